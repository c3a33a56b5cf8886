#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that were built with Debian's MPICH, which has the same ABI, over Intel MPI from
# PyPI's wheel. Arguments: Python, a directory for a virtual environment, a program for the barriers
# and one for progress, and the start of a command line of run_mpi_test.py without mpiexec.
set -eu
. "$(dirname "$0")/python_environment.sh"
environment=$2
barriers=$3
progress=$4
enter_environment "$1" "$2" \
  'impi-rt==2021.19.0 --hash=sha256:708b4336c9d303a3d807b58054c502ed4f716dfb074dfa48904180b46d14bb40'
shift 4

# Debian's programs ask for MPICH by a name that it has in Debian only.
mkdir -p "$environment/names"
ln -sf ../python/lib/libmpi.so.12 "$environment/names/libmpich.so.12"

# Shared memory only: what goes between machines needs another wheel.
mpi=(--mpiexec "$environment/python/bin/mpiexec"
     --env "LD_LIBRARY_PATH=$environment/names:$environment/python/lib"
     --env I_MPI_FABRICS=shm --expect 'library: Intel.R. MPI Library 2021\.19\.0'
     --count library==0)
"$@" "${mpi[@]}" --ranks 2 --count engine==2000 -- "$barriers" oracle 1000
"$@" "${mpi[@]}" --ranks 4 --env HIERBAR_FAKE_NODES=2 --count engine==200 -- "$barriers" oracle 50
"$@" "${mpi[@]}" --ranks 2 --count engine==800 -- "$barriers" duplicates 200
for what in isend ssend lock; do
  "$@" "${mpi[@]}" --ranks 2 --count engine==42 -- "$progress" $what 1 0
done
