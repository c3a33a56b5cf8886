#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   mpi4py_test.sh PYTHON DIRECTORY HIERBAR|- RUNNER...
#
# mpi4py for MPI's standard ABI under libhierbar_mpi_abi.so, which `hierbar run` chooses for it. It
# is built once, because PyPI's wheel has no module for this ABI, and runs over PyPI's MPICH and
# Intel MPI. DIRECTORY is that of wheels_test.sh, HIERBAR the command, and RUNNER the start of a
# command line of run_mpi_test.py without mpiexec.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../python_environment.sh"
python=$1 directory=$2 hierbar=$3
shift 3
pip_seconds=600
mkdir -p "$directory"
enter_abi_libraries "$python" "$directory"

if [[ ! -e $directory/mpi4py/ready ]]; then
  rm -rf "$directory/mpi4py"
  LD_LIBRARY_PATH=$mpich/lib MPICC=$mpich/bin/mpicc_abi CFLAGS=-O0 MPI4PY_BUILD_MPIABI=1 \
    pip_from_pypi "$mpich/bin/python" install --retries 1 --timeout 15 --no-deps \
    --no-binary mpi4py --target "$directory/mpi4py" -r /dev/stdin \
    <<<"$mpi4py --hash=$mpi4py_sources_hash" ||
    skip "PyPI has no sources of $mpi4py with that checksum, or does not answer"
  touch "$directory/mpi4py/ready"
fi

program=("$mpich/bin/python" -B "$here/mpi4py_calls.py")
for library in "$mpich" "$intel"; do
  echo "over $library"
  settings=("LD_LIBRARY_PATH=$library/lib" I_MPI_FABRICS=shm "PYTHONPATH=$directory/mpi4py"
            HIERBAR_MPI=collectives)
  "$@" --mpiexec "$library/bin/mpiexec" "${settings[@]/#/--env=}" --count engine==400 \
    --count library==0 --count allreduces==200 --count bcasts==200 --count reduces==200 \
    -- "${program[@]}"
  [[ $hierbar != - ]] || continue
  env "${settings[@]}" HIERBAR_MPI_SET_UP_AT=1 "$hierbar" run --require-active \
    -- "$library/bin/mpiexec" -n 2 "${program[@]}" 2>&1 | tee "$directory/output"
  grep -q '^hierbar run: MPI: 400 barriers served in 2 processes, 0 left.*; 200 allreduces served' \
    "$directory/output"
done
