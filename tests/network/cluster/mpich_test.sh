#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mpich_test.sh BUILD_DIRECTORY ENVIRONMENT
#
# auto_test.py and meetings_test.py with MPICH, in PyPI's package: Debian's 4.0.2 on UCX's TCP runs
# on the cluster, but often does not come back from MPI_Finalize. ENVIRONMENT is a directory for the
# package. Exit status: 77 where it cannot be had, or no cluster.
set -euo pipefail
build=$(realpath "$1")
environment=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../mpi/python_environment.sh
enter_environment python3 "$environment" \
  'mpich==5.0.2 --hash=sha256:8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4'
bin=$(realpath "$environment/python/bin")
programs=$(realpath "$environment")/programs
mkdir -p "$programs"
for source in meeting_times.cpp ../../mpi/programs/barriers.cpp ../../mpi/programs/threads.cpp; do
  program=${source##*/}
  "$bin/mpicxx" -std=c++20 -O2 -Wall -Wextra -pthread -DMPICH_SKIP_MPICXX \
    -I../../.. -I../../../runtime/include "$source" \
    -o "$programs/${program%.cpp}"
done
common=(--mpi mpich --mpiexec "$bin/mpiexec" --delay-line "$build/tests/network/delay_line"
        --shim "$build/lib/libhierbar_mpi.so")
./auto_test.py "${common[@]}" --program "$programs/meeting_times" --nodes 3,4,5 \
  --fixed linear,tree:1,"$(printf 'dissemination:%s,' {1..4})"
./meetings_test.py "${common[@]}" --programs "$programs" \
  --meetings library,linear,dissemination:2,tree:1,auto
