#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Python programs with PyPI's mpi4py, which knows its MPI library by itself and asks for MPI_THREAD_MULTIPLE. Arguments: Python, a
# directory for a virtual environment, which is made when it is missing, a program linked with MPICH, and the start of a command
# line of run_mpi_test.py.
set -eu
python=$1 environment=$2 program=$3
shift 3
directory=$(cd "$(dirname "$0")" && pwd)
readonly wanted=mpi4py==4.1.2

skip() {
  echo "$1"
  exit 77
}

if [[ ! -e $environment/ready ]]; then
  rm -rf "$environment"
  "$python" -m venv "$environment" >/dev/null 2>&1 || skip 'python3 cannot make a virtual environment (Debian: python3-venv)'
  timeout 90 "$environment/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 15 --only-binary :all: \
    "$wanted" || skip "PyPI has no $wanted for this machine, or cannot be reached"
  # mpi4py asks for MPICH by the name that it has everywhere but in Debian.
  mkdir "$environment/mpich"
  ln -s "$(ldd "$program" | awk '$1 ~ /^libmpi(ch)?\.so\.12$/ { print $3 }')" "$environment/mpich/libmpi.so.12"
  touch "$environment/ready"
fi

mpi=(--env "LD_LIBRARY_PATH=$environment/mpich" --env MPI4PY_MPIABI=mpich)
"$@" "${mpi[@]}" --count engine==300 --count library==0 -- "$environment/bin/python" -B "$directory/mpi4py_short.py"
"$@" "${mpi[@]}" --count engine==1278 --count 'one rank==6' --count intercommunicator==6 --count outside==3 --count library==15 \
  -- "$environment/bin/python" -B "$directory/mpi4py_barriers.py"
