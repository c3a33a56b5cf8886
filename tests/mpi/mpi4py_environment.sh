# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# To be sourced: PyPI's mpi4py over Debian's MPICH, for the tests with it. It knows its MPI library by itself, asks for
# MPI_THREAD_MULTIPLE, and wants MPICH by the name that it has everywhere but in Debian.
. "$(dirname "${BASH_SOURCE[0]}")/python_environment.sh"
readonly mpi4py=mpi4py==4.1.2

enter_mpi4py() { # <python> <directory> <program linked with MPICH>; sets `python` and `mpi`, run_mpi_test.py's options
  enter_environment "$1" "$2" "$mpi4py"
  mkdir -p "$2/mpich"
  ln -sf "$(ldd "$3" | awk '$1 ~ /^libmpi(ch)?\.so\.12$/ { print $3 }')" "$2/mpich/libmpi.so.12"
  python=$2/python/bin/python
  mpi=(--env "LD_LIBRARY_PATH=$2/mpich" --env MPI4PY_MPIABI=mpich)
}
