#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# threadcomm_test.sh BUILD_DIRECTORY ENVIRONMENT
#
# MPI_Barrier on communicators of threads, which MPICH has from version 4.2 on: PyPI's package. The
# engine serves them, the program knows nothing of it, and without the shim it gives the same
# results. ENVIRONMENT is a directory for the package. Exit status: 77 where it cannot be had.
set -euo pipefail
build=$(realpath "$1")
environment=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../python_environment.sh
enter_environment python3 "$environment" \
  'mpich==5.0.2 --hash=sha256:8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4'
bin=$(realpath "$environment/python/bin")
program=$(realpath "$environment")/programs/threadcomm
mkdir -p "${program%/*}"
"$bin/mpicxx" -std=c++20 -O2 -Wall -Wextra -Werror -pthread -DMPICH_SKIP_MPICXX \
  -DHIERBAR_MPI_WEAK -I../../.. -I../../../runtime/include \
  threadcomm.cpp -o "$program"

run_plain() { # RANKS OPTION... -- CASE...
  printf '%s\n' "$*"
  ../run_mpi_test.py --mpi mpich --mpiexec "$bin/mpiexec" --timeout 120 --ranks "$@"
}
run() { # RANKS OPTION... -- CASE...
  local ranks=$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  run_plain "$ranks" --shim "$build/lib/libhierbar_mpi.so" "${options[@]}" -- "$program" "${@:2}"
}
on_two_nodes=(--env HIERBAR_FAKE_NODES=2)

# Each barrier counts once for each rank. Three more of each rank are on MPI_COMM_WORLD.
run 1 --count engine==3000 --count 'one rank==3' -- oracle single 2 1000
run 2 --count engine==3006 --count library==0 -- oracle single 1 500
run 2 --count engine==1206 --count library==0 -- oracle single 2 200
run 2 --count engine==1206 --count library==0 -- oracle multiple 2 200
run 3 --count engine==909 --count library==0 -- oracle serialized 3,1,2 100
run 4 "${on_two_nodes[@]}" --count engine==612 --count library==0 -- oracle multiple 2,1,3 50
run 4 "${on_two_nodes[@]}" --count engine==612 --count library==0 -- oracle single 2,1,3 50
run 2 "${on_two_nodes[@]}" --count engine==0 --count 'no shared memory==306' -- oracle single 2 50
run 2 --count engine==100 --count library==0 -- mixed single 2 25
run 2 --count engine==2 -- progress single 2
run 2 --count engine==2 -- progress multiple 1
run 2 --env HIERBAR_REPORT=text --count engine==606 --expect-some 'team barrier' \
  -- oracle single 2 100
run 2 --env HIERBAR_TIMEOUT_S=1 \
  --expect-some 'a barrier of a team on a threadcomm of MPI_COMM_WORLD of 4 threads on this node has waited 1 s for thread [01] of rank 1 ' \
  -- late single 2

# The library's own, for the same program.
run 2 --env HIERBAR_MPI=off --count engine==0 --count off==126 -- oracle single 2 10
run_plain 2 -- "$program" oracle single 2 10

../kill_test.py --mpi mpich --mpiexec "$bin/mpiexec" --shim "$build/lib/libhierbar_mpi.so" \
  --times 20 --kind inside --case forever \
  --case single --case 2 --next oracle --next single --next 2 --next 10 "$program"
