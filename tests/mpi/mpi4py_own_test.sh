#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mpi4py's own tests of barriers, and others that use them, from its source distribution: none fails under the shim that passes
# without. Arguments: Python, a directory for a virtual environment, a program linked with MPICH, the shim, and the start of a command
# line of run_mpi_test.py for two ranks.
set -eu
directory=$(cd "$(dirname "$0")" && pwd)
. "$directory/mpi4py_environment.sh"
environment=$2
shim=$4
enter_mpi4py "$1" "$2" "$3"
shift 4

readonly source=$environment/mpi4py-4.1.2
readonly requirement="$mpi4py --hash=sha256:56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02"
if [[ ! -e $source/test ]]; then
  pip_from_pypi "$python" download --retries 1 --timeout 15 --no-deps --no-binary mpi4py --dest "$environment" -r /dev/stdin \
    <<<"$requirement" || skip "PyPI has no sources of $mpi4py with that checksum, or cannot be reached"
  tar -xzf "$source.tar.gz" -C "$environment"
fi

# MPI_Barrier, MPI_Ibarrier, and barriers between groups.
modules=(test_cco_obj test_cco_obj_inter test_cco_buf.TestCCOBufWorld test_cco_nb_buf.TestCCOBufWorld)
readonly results=$environment/results
own=("$python" -B "$directory/mpi4py_own.py" "$source/test" "$results")
"$@" "${mpi[@]}" -- "${own[@]}" write "${modules[@]}"
"$@" "${mpi[@]}" --shim "$shim" --count 'engine>=6' --count 'intercommunicator>=2' -- "${own[@]}" compare "${modules[@]}"
