#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   run_reach_test.sh HIERBAR SOURCE_DIR
#
# `hierbar run` with programs that bring an OpenMP runtime of their own: under the usual name by
# DT_RPATH, as conda and Spack make them, under a hash, as auditwheel names it in Python wheels, and
# under the names of Clang's and Intel's. In each, hierbar's runtime is the only one. And with
# programs that AddressSanitizer looks into.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests/cli
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER OMP_NUM_THREADS

# Of the preloaded runtime there is one file, and the other one was not even loaded.
is_alone() {
  [[ $(grep --count '^runtime ' "$work/output") == 1 ]] && says 'runtime ' &&
    says '/hierbar/preload/libgomp.so.1' &&
    ! grep --quiet 'other runtime' "$work/output"
}
keeps_cpus() {
  local n
  n=$(nproc)
  says "cpus start $n thread $n after $n subprocess $n"
}
is_active() {
  succeeded &&
    grep --quiet --extended-regexp 'OpenMP: [1-9][0-9]* barriers served in [12] process' "$work/output"
}

build() { # NAME: a program that needs a runtime of this name, by DT_RPATH
  mkdir -p "$work/$1"
  cc -shared -fPIC "$sources/other_runtime.c" -Wl,--version-script="$sources/other_runtime.map" \
    -Wl,-soname,"$1" -o "$work/$1/$1"
  cc -O2 -fopenmp -c "$sources/teams.c" -o "$work/teams.o"
  cc "$work/teams.o" "$work/$1/$1" -Wl,--disable-new-dtags,-rpath,"$work/$1" -pthread \
    -o "$work/$1/app"
}

for name in libgomp.so.1 libgomp-a34b3233.so.1.0.0 libomp.so.5 libiomp5.so; do
  build "$name"
  run "$work/$name/app"
  check "$name: without hierbar the program calls its own runtime" \
    says 'the other runtime was called'
  # Quotas would make the default team smaller; the program asks for two threads.
  run timeout 60 "$hierbar" run --require-active -- "$work/$name/app"
  check "$name: it is active" is_active
  check "$name: one runtime, ours" is_alone
  check "$name: threads and subprocesses keep the process's cpus" keeps_cpus
  # An old glibc declines the audit module; preloading alone then has to do.
  run timeout 60 "$hierbar" run --require-active -- env -u LD_AUDIT "$work/$name/app"
  check "$name: it is active without the audit module too" is_active
done

# Two packages in one process, each with a hash of its own.
cc -shared -fPIC "$sources/other_runtime.c" -Wl,--version-script="$sources/other_runtime.map" \
  -Wl,-soname,libgomp-d22c30c5.so.1.0.0 -o "$work/libgomp-d22c30c5.so.1.0.0"
printf '%s\n' 'int omp_get_num_threads(void); int second(void) { return omp_get_num_threads(); }' \
  >"$work/second.c"
cc -shared -fPIC "$work/second.c" "$work/libgomp-d22c30c5.so.1.0.0" \
  -Wl,--disable-new-dtags,-rpath,"$work" -o "$work/libsecond.so"
name=libgomp-a34b3233.so.1.0.0
cc "$work/teams.o" "$work/$name/$name" -Wl,--no-as-needed "$work/libsecond.so" \
  -Wl,--disable-new-dtags,-rpath,"$work/$name:$work" \
  -pthread -o "$work/two"
run timeout 60 "$hierbar" run --require-active -- "$work/two"
check 'two vendored runtimes: it is active' is_active
check 'two vendored runtimes: one runtime, ours' is_alone

# GCC's AddressSanitizer wants to be the first library.
if c++ -O1 -fopenmp -fsanitize=address -x c++ - -o "$work/sanitized" <<'END' 2>"$work/output"; then
#include <cstdio>
int main() {
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    ++sum;
  }
  std::printf("sum %d\n", sum);
}
END
  run timeout 60 "$hierbar" run --require-active -- "$work/sanitized"
  check 'AddressSanitizer: it is active' is_active
  check 'AddressSanitizer: the program runs' says 'sum 20'
  run env ASAN_OPTIONS=detect_leaks=0 "$hierbar" run --dry-run -- "$work/sanitized"
  check 'AddressSanitizer: its options stay' \
    says 'ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0'
else
  echo 'this compiler has no AddressSanitizer, which is left out'
fi

# GCC's ThreadSanitizer wants more thread-local memory than the loader has behind an audit module.
# Where the system gives addresses at random it may refuse to run whatever is preloaded.
if echo 'int main() {}' | c++ -fsanitize=thread -x c++ - -o "$work/threads" 2>"$work/output" &&
  "$work/threads" 2>"$work/output"; then
  run timeout 60 "$hierbar" run --quiet -- "$work/threads"
  check 'ThreadSanitizer: the loader has room for it' succeeded
  run env GLIBC_TUNABLES=glibc.malloc.check=0 "$hierbar" run --dry-run -- "$work/threads"
  check 'ThreadSanitizer: other tunables stay' \
    says 'GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1048576:glibc.malloc.check=0'
else
  echo 'ThreadSanitizer does not run here, which is left out'
fi

finish
