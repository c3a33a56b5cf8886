#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mpi4py's own tests, from its source distribution: none fails under the shim that passes without.
#
#   mpi4py_own_test.sh PYTHON DIRECTORY {mpich|ompi} PROGRAM OPTION... [TEST...]
#
# DIRECTORY is for a virtual environment, PROGRAM is one that is linked with MPICH or Open MPI, and
# the rest is for tests/suites/check_mpi4py.py.
set -eu
directory=$(cd "$(dirname "$0")" && pwd)
. "$directory/python_environment.sh"
environment=$2
enter_mpi4py "$1" "$2" "$3" "$4"
check=("$1" -B "$directory/../suites/check_mpi4py.py")
shift 4

readonly source=$environment/mpi4py-4.1.2
if [[ ! -e $source/test ]]; then
  pip_from_pypi "$python" download --retries 1 --timeout 15 --no-deps --no-binary mpi4py \
    --dest "$environment" -r /dev/stdin \
    <<<"$mpi4py --hash=$mpi4py_sources_hash" ||
    skip "PyPI has no sources of $mpi4py with that checksum, or cannot be reached"
  tar -xzf "$source.tar.gz" -C "$environment"
fi
"${check[@]}" --python "$python" --source "$source" "${mpi[@]}" "$@"
