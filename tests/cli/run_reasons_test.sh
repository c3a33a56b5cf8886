#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   run_reasons_test.sh HIERBAR SOURCE_DIR
#
# Programs with no barrier for hierbar to serve: `hierbar run` names the reason in its one line, and
# `hierbar doctor` foresees it in the same words, as far as files show it.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests/cli
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER OMP_NUM_THREADS

cat >"$work/threads.c" <<'END'
#include <pthread.h>
static void *nothing(void *value) { return value; }
int main(void) {
  pthread_t thread;
  return pthread_create(&thread, 0, nothing, 0) || pthread_join(thread, 0);
}
END
cat >"$work/region.c" <<'END'
int main(void) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  ++count;
  return count == 0;
}
END
cat >"$work/open.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
int main(int argc, char **argv) {
  return argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND) == 0;
}
END
printf 'int main(void) { return 0; }\n' >"$work/nothing.c"
for name in threads nothing; do cc "$work/$name.c" -pthread -o "$work/$name"; done
cc -fopenmp "$work/region.c" -o "$work/region"
cc "$work/open.c" -ldl -o "$work/open"
cc -shared -fPIC "$sources/other_runtime.c" -Wl,--version-script="$sources/other_runtime.map" \
  -o "$work/libgomp-a34b3233.so.1.0.0"

# names REASON COMMAND...: `hierbar run` says one line.
names() {
  run timeout 60 "$hierbar" run -- "${@:2}"
  check "run: $1" same_text "$(grep '^hierbar' "$work/output")" "hierbar run: not active: $1"
  check "run: $1: the program's own status" same_text "$status" 0
}
foresees() {
  run "$hierbar" doctor -- "${@:2}"
  check "doctor: $1" says "not active: $1"
  run "$hierbar" doctor --json -- "${@:2}"
  check "doctor --json: $1" says "\"words\": \"$1\""
}
both() { names "$@" && foresees "$@"; }

both 'no OpenMP and no MPI in the program' "$work/nothing"
both 'own threads: it starts its threads itself and uses neither OpenMP nor MPI' "$work/threads"
if cc -static "$work/nothing.c" -o "$work/static" 2>/dev/null; then
  both 'static program: no library can replace its functions' "$work/static"
fi
both 'teams of one thread, which need no barrier' env OMP_NUM_THREADS=1 "$work/region"
names "KMP_BARRIER='hyper' selects another barrier" env KMP_BARRIER=hyper "$work/region"
# An old glibc declines the audit module, which would keep the other runtime out.
names "another OpenMP runtime loaded later: $work/libgomp-a34b3233.so.1.0.0" env -u LD_AUDIT \
  "$work/open" \
  "$work/libgomp-a34b3233.so.1.0.0"
if mpicc=$(command -v mpicc.mpich) && mpiexec=$(command -v mpiexec.mpich); then
  # MPICH's launcher can die of SIGPIPE where ranks end at once.
  printf '%s\n' '#include <mpi.h>' '#include <unistd.h>' \
    'int main(int c, char **v) { MPI_Init(&c, &v); usleep(200000); return MPI_Finalize(); }' \
      >"$work/ranks.c"
  "$mpicc" "$work/ranks.c" -o "$work/ranks"
  both 'no barrier called: the ranks never call MPI_Barrier' "$mpiexec" -n 2 "$work/ranks"
fi

run "$hierbar" doctor -- env OMP_NUM_THREADS=2 "$work/region"
check 'doctor is silent about a program with barriers' same_text \
  "$(grep -c 'not active' "$work/output")" 0
run "$hierbar" doctor -- sh -c true
check 'and about what it cannot see' same_text "$(grep -c 'not active' "$work/output")" 0
finish
