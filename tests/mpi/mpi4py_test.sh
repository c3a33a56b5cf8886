#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Python programs with PyPI's mpi4py. Arguments: Python, a directory for a virtual environment, a
# program linked with MPICH, and the start of a command line of run_mpi_test.py.
set -eu
directory=$(cd "$(dirname "$0")" && pwd)
. "$directory/python_environment.sh"
enter_mpi4py "$1" "$2" mpich "$3"
shift 3

"$@" "${mpi[@]}" --count engine==300 --count library==0 -- "$python" -c \
  'from mpi4py import MPI; [MPI.COMM_WORLD.Barrier() for _ in range(100)]'
"$@" "${mpi[@]}" --count engine==1278 --count 'one rank==6' --count intercommunicator==6 \
  --count outside==3 --count library==15 -- "$python" -B "$directory/mpi4py_barriers.py"
# Without any barrier: the first call is the interpreter's, of MPI_Finalize.
"$@" "${mpi[@]}" --count engine==0 --count library==0 --expect 'no MPI_Barrier call reached this library' \
  -- "$python" -c 'from mpi4py import MPI'
