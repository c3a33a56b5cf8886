#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   compare_reach_test.sh HIERBAR SOURCE_DIR
#
# `hierbar compare` with real programs and runtimes: who runs under which, and what is served. No
# answer here depends on how long a run takes.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests/cli
build=$(cd "$(dirname "$hierbar")/.." && pwd)
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER OMP_NUM_THREADS
cd "$work"

# Names the first OpenMP runtime of its process, and has 1,000 barriers.
cat >team.c <<'END'
#include "own_process.h"
int omp_get_num_threads(void);
int main(int argc, char **argv) {
  int size = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 1000; ++i) {
#pragma omp barrier
    }
#pragma omp single
    size = omp_get_num_threads();
  }
  if (argc > 1) print_runtimes();
  printf("threads %d\n", size);
  return 0;
}
END
cc -O2 -fopenmp -I "$sources" team.c -o team

compare() { run timeout 200 "$hierbar" compare "$@"; }
# json EXPRESSION: of the object in the file `json`.
json() { python3 -c "import json; j = json.load(open('json')); print($1)"; }

OMP_NUM_THREADS=2 compare --runs 2 --json json -- ./team
check 'a program of GCC is compared' succeeded
check 'its barriers are served' says 'barriers served'
check 'hierbar serves, and the program as it is does not' same_text \
  "$(json '[way["openmp"]["served"] >= 1000 for way in j["ways"]]')" '[False, True]'
check 'both ways print the same' same_text "$(json 'j["ways"][1]["output"]["kind"]')" none

OMP_NUM_THREADS=2 compare --runs 2 --json json -- ./team runtimes
check 'the runtimes differ' same_text "$status" 1
check 'as it is, it runs on that of GCC' says '/libgomp.so.1'

compare --runs 2 --threads 1,2 --json json -- ./team
check 'two team sizes are compared' succeeded
check 'in this order' same_text \
  "$(json '[(way["name"], way["team_size"]) for way in j["ways"]]')" \
  "[('as it is', 1), ('hierbar', 1), ('as it is', 2), ('hierbar', 2)]"
check 'a team of one needs no barrier' same_text \
  "$(json 'j["ways"][1]["not_active"]["code"]')" one-thread
check 'a team of two has them served' same_text "$(json 'j["ways"][3]["not_active"]')" None
check 'the best size of the program as it is is named' says 'best as it is, '
check 'and of hierbar' says 'best hierbar, '

stock=$build/stock/lib/libomp.so
if [[ -e $stock ]]; then
  OMP_NUM_THREADS=2 compare --runs 2 --with libomp --ignore-output --json json -- ./team runtimes
  check 'the stock library is compared with' succeeded
  check 'which the build has' same_text \
    "$(json 'j["ways"][2]["variables"]["LD_PRELOAD"]')" "$stock"
  check 'by its name' says "of libomp's time"
  check 'it serves nothing of ours' same_text "$(json 'j["ways"][2]["openmp"]["served"]')" 0
  OMP_NUM_THREADS=2 compare --runs 2 --with "libomp=$build/stock/lib" -- ./team
  check 'and by its path' succeeded
fi
OMP_NUM_THREADS=2 compare --runs 2 --with libgomp -- ./team
check 'its own runtime is left out' says 'libgomp is left out: the program as it is runs on it: '
compare --with "libiomp5=$build/lib/hierbar/preload/libiomp5.so" -- ./team
check 'another runtime under a name is refused' says "is hierbar's OpenMP runtime; allowed: "

if mpicc=$(command -v mpicc.mpich) && mpiexec=$(command -v mpiexec.mpich); then
  cat >ranks.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
END
  "$mpicc" ranks.c -o ranks
  compare --runs 2 --json json -- "$mpiexec" -n 2 ./ranks
  check 'ranks are compared' succeeded
  check 'their barriers are served' same_text \
    "$(json '[way["mpi"]["served"] for way in j["ways"]]')" '[0, 200]'
else
  echo 'skipped: ranks: there is no MPICH'
fi
finish
