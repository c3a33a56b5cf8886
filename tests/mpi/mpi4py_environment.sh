# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# To be sourced: PyPI's mpi4py over Debian's MPICH or Open MPI, for the tests with it. It asks for
# MPI_THREAD_MULTIPLE, and wants MPICH by the name that it has everywhere but in Debian.
. "$(dirname "${BASH_SOURCE[0]}")/python_environment.sh"
readonly mpi4py=mpi4py==4.1.2

# Sets `python` and `mpi`, options that run_mpi_test.py and check_mpi4py.py know.
enter_mpi4py() { # <python> <directory> <mpich|ompi> <program linked with that>
  local library
  enter_environment "$1" "$2" "$mpi4py"
  python=$2/python/bin/python
  case $3 in
    ompi) mpi=(--mpi ompi --env MPI4PY_MPIABI=openmpi) ;;
    mpich)
      library=$(ldd "$4" | awk '$1 ~ /^libmpi(ch)?\.so\.12$/ { print $3 }')
      mkdir -p "$2/mpich"
      ln -sf "$library" "$2/mpich/libmpi.so.12"
      mpi=(--mpi mpich --env "LD_LIBRARY_PATH=$2/mpich" --env MPI4PY_MPIABI=mpich)
      ;;
  esac
}
