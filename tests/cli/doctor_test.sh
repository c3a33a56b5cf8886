#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   doctor_test.sh HIERBAR SOURCE_DIR
#
# `hierbar doctor` on healthy programs, about which it has nothing to say, and on prepared faults,
# each of which it names. Where it prints a command, that command is run and must help.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests/cli
lib=$(cd "$(dirname "$hierbar")/.." && pwd)/lib
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER KMP_INIT_AT_FORK
unset OMP_NUM_THREADS OPENBLAS_NUM_THREADS HIERBAR_TOPOLOGY SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK
cd "$work"

doctor() { run timeout 200 env "${variables[@]}" "$hierbar" doctor "$@"; }
# Sets `variables` for the next calls of doctor().
with() { variables=("$@"); }
is_silent() { [[ $status == 0 ]] && says ': nothing found'; }
finds() { [[ $status == 1 ]] && says "  $1: " && says '    do:    '; }
finds_only() { finds "$1" && says ': 1 finding'; }
# The command that the last run printed.
remedy() { sed -n 's/^ *\$ //p' "$work/output" | head -n 1; }
# A command without a word of doctor's about it.
cures() { # COMMAND: as it was printed, in the environment that had the fault
  run timeout 200 env "${variables[@]}" bash -c "$1"
  succeeded && [[ $(grep --count '^runtime ' "$work/output") == 1 ]] &&
    says '/hierbar/preload/libgomp.so.1'
}
skip() { printf 'skipped: %s\n' "$*"; }

with OMP_NUM_THREADS=2
cc -O2 -fopenmp "$sources/teams.c" -pthread -o gcc_app
printf 'int main(void) { return 0; }\n' >serial.c # uses no OpenMP and no MPI
cc -O2 serial.c -o serial_app
cat >mpi.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#pragma omp parallel
  {
#pragma omp barrier
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
END

# --- healthy programs

doctor -- ./serial_app
check 'a serial program is healthy' is_silent
check 'and has no runtime' says 'no OpenMP runtime and no MPI'
doctor -- ./gcc_app
check 'a program of GCC is healthy' is_silent
check 'its runtime is named, with where it is from' says "GCC's OpenMP runtime: "
doctor -- "$hierbar" run -- ./gcc_app
check 'so is it under hierbar run' is_silent
check 'which preloads the one runtime' \
  says "hierbar's OpenMP runtime: $lib/hierbar/preload/libgomp.so.1 (LD_PRELOAD)"
doctor --run 20 -- "$hierbar" run --quiet -- ./gcc_app
check 'and when it is run' is_silent
check 'where the same is seen' says "$lib/hierbar/preload/libgomp.so.1"
doctor --run 20 -- "$hierbar" run --quiet -- ./gcc_app 300
check 'and while it waits for a child with a team of its own' is_silent
doctor --run 30 -- "$hierbar" run --quiet -- bash -c 'for i in {1..30}; do ./gcc_app 20; done'
check 'and where such children end while doctor looks' is_silent
with KMP_BARRIER=hier LD_LIBRARY_PATH="$lib" OMP_NUM_THREADS=2
doctor -- ./gcc_app
check 'and with the variables set by hand' is_silent
with OMP_NUM_THREADS=2
clang=$(command -v clang-19 || command -v clang || true)
if [[ -n $clang ]] && "$clang" -O2 -fopenmp "$sources/teams.c" -pthread -o clang_app 2>/dev/null
then
  doctor -- ./clang_app
  check 'a program of Clang is healthy' is_silent
  check 'its runtime is named' says "LLVM's OpenMP runtime: "
  doctor -- "$hierbar" run -- ./clang_app
  check 'so is it under hierbar run' is_silent
else
  skip 'no Clang with an OpenMP runtime'
fi
for family in mpich openmpi; do
  command -v "mpicc.$family" >/dev/null && command -v "mpiexec.$family" >/dev/null ||
    { skip "no mpicc.$family" && continue; }
  "mpicc.$family" -fopenmp mpi.c -o "${family}_app"
  doctor -- "mpiexec.$family" -n 2 "./${family}_app"
  check "a program of $family is healthy behind its launcher" is_silent
  doctor -- "$hierbar" run -- "mpiexec.$family" -n 2 "./${family}_app"
  check 'so is it under hierbar run' is_silent
  check 'which preloads its MPI_Barrier' says "hierbar's MPI_Barrier for"
done

# MPI's standard ABI, whose programs any launcher starts: a library with no more than what shows it.
printf '%s\n' 'int MPI_Barrier(void *comm) { return comm == 0; }' \
  'int MPI_Abi_get_version(int *major, int *minor) { return *major = 1, *minor = 0; }' >abi.c
cc -shared -fPIC abi.c -Wl,-soname,libmpi_abi.so.1 -o libmpi_abi.so.1
printf '%s\n' 'int MPI_Barrier(void *comm);' \
  'int main(void) { return MPI_Barrier((void *)0x101); }' >abi_app.c
cc abi_app.c ./libmpi_abi.so.1 -Wl,-rpath,"$work" -o abi_app
doctor -- ./abi_app
check 'a program of the standard ABI is healthy' is_silent
check 'its MPI is named' says 'MPI of the standard ABI: '
for launcher in mpiexec.mpich mpiexec.openmpi; do
  command -v "$launcher" >/dev/null || { skip "no $launcher" && continue; }
  doctor -- "$hierbar" run -- "$launcher" -n 2 ./abi_app
  check "so is it under hierbar run and $launcher" is_silent
  check 'which preloads its MPI_Barrier' says "hierbar's MPI_Barrier for MPI's standard ABI"
done

# --- faults

# 1. GCC's runtime comes first, because it is preloaded.
gcc_runtime=$(cc -print-file-name=libgomp.so.1)
with KMP_BARRIER=hier LD_LIBRARY_PATH="$lib" LD_PRELOAD="$gcc_runtime" OMP_NUM_THREADS=2
doctor -- ./gcc_app
check 'another runtime that comes first is found' finds_only other-runtime
check 'and a command is printed' same_text "$(remedy)" "$hierbar run -- ./gcc_app"
check 'which puts that right' cures "$(remedy)"

# 2. Two runtimes: the program's, and a vendored one that a library brings.
mkdir vendored
cc -shared -fPIC "$sources/other_runtime.c" -Wl,--version-script="$sources/other_runtime.map" \
  -Wl,-soname,libgomp-a34b3233.so.1.0.0 -o vendored/libgomp-a34b3233.so.1.0.0
printf 'int omp_get_num_threads(void); int second(void) { return omp_get_num_threads(); }\n' \
  >second.c
cc -shared -fPIC second.c vendored/libgomp-a34b3233.so.1.0.0 \
  -Wl,--disable-new-dtags,-rpath,"$work/vendored" -o libsecond.so
cc -O2 -fopenmp "$sources/teams.c" -Wl,--no-as-needed ./libsecond.so -pthread -Wl,-rpath,"$work" \
  -o two_app
with OMP_NUM_THREADS=2
doctor -- ./two_app
check 'two runtimes are found' finds_only two-runtimes
check 'both with their files' says 'vendored/libgomp-a34b3233.so.1.0.0'
check 'the printed command leaves one' cures "$(remedy)"
doctor -- "$hierbar" run -- ./two_app
check 'as doctor sees too' is_silent

# 3. All threads on one cpu.
run timeout 200 taskset -c 0 env OMP_NUM_THREADS=2 "$hierbar" doctor -- ./gcc_app
check 'a binding that stacks threads is found' finds_only stacked-threads
run timeout 200 env OMP_NUM_THREADS=2 OMP_PLACES='{0}' OMP_PROC_BIND=true "$hierbar" doctor \
  -- ./gcc_app
check 'so are places that do' finds_only stacked-threads

run timeout 200 taskset -c 0 env OMP_NUM_THREADS=2 "$hierbar" doctor --run 3 -- ./gcc_app
check 'in a run as well' finds_only stacked-threads
# 4. A cpu quota.
if group=$(mktemp -d /sys/fs/cgroup/cpu/hierbar-doctor-XXXXXX 2>/dev/null); then
  trap 'rmdir "$group"; rm -rf "$work"' EXIT
  echo 100000 >"$group/cpu.cfs_quota_us"
  with OMP_NUM_THREADS=2
  # Two lines of a subshell, so that this script stays where it is.
  run timeout 200 bash -c 'echo $$ >"$0/cgroup.procs"; exec env OMP_NUM_THREADS=2 "$@"' "$group" \
    "$hierbar" doctor -- ./gcc_app
  check 'a quota below the number of threads is found' finds_only quota
  check 'with a command' same_text "$(remedy)" 'OMP_NUM_THREADS=1 ./gcc_app'
  run timeout 200 bash -c 'echo $$ >"$0/cgroup.procs"; exec env "$@"' "$group" "$hierbar" doctor \
    -- "$hierbar" run -- ./gcc_app
  check "hierbar's default team obeys the quota" is_silent
  cat >team.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) {
#pragma omp parallel
#pragma omp single
  printf("a team of %d\n", omp_get_num_threads());
  return 0;
}
END
  cc -fopenmp team.c -o team_app
  run timeout 200 bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$hierbar" run --quiet \
    -- ./team_app
  check 'which has one thread' says 'a team of 1'
else
  skip 'no control group for cpu time can be made here'
fi

# 5. KMP_INIT_AT_FORK.
if [[ -e clang_app ]]; then
  with KMP_INIT_AT_FORK=FALSE OMP_NUM_THREADS=2
  doctor -- ./clang_app
  check 'the fork setting is found' finds_only fork-setting
  check 'with a command' same_text "$(remedy)" 'KMP_INIT_AT_FORK=TRUE ./clang_app'
  doctor -- "$hierbar" run -- ./clang_app
  check 'under hierbar it is overruled' is_silent
fi
with KMP_INIT_AT_FORK=FALSE
doctor -- python3 -c pass
check 'for Python, whose libraries come later, as well' finds_only fork-setting

# 6. MPI of the other family.
if [[ -e mpich_app && -e openmpi_app ]]; then
  with LD_PRELOAD="$lib/libhierbar_mpi.so" OMP_NUM_THREADS=1
  doctor -- ./openmpi_app
  check "the other family's MPI_Barrier is found" finds_only other-mpi
  with LD_PRELOAD="$lib/libhierbar_mpi_any.so" OMP_NUM_THREADS=1
  doctor -- ./openmpi_app
  check 'that for any MPI is right' is_silent
  mkdir one_file
  cp "$lib/libhierbar_mpi_any.so" "$lib/libhierbar_mpi.so" "$lib"/libhierbar.so* one_file
  with LD_PRELOAD="$work/one_file/libhierbar_mpi_any.so" OMP_NUM_THREADS=1
  doctor -- ./openmpi_app
  check "it is found where the family's own is missing" finds_only missing-shim
  check 'with the file' says "opens $work/one_file/libhierbar_mpi_ompi.so"
  with OMP_NUM_THREADS=1
  doctor -- mpiexec.openmpi -n 2 ./mpich_app
  check "so is the other family's launcher" finds_only other-mpi
  check 'with the right one' same_text "$(remedy)" 'mpiexec.mpich -n 2 ./mpich_app'
fi

# 7. libhierbar.so is gone.
mkdir half
cp "$lib/libomp.so" half/libgomp.so.1
with KMP_BARRIER=hier LD_LIBRARY_PATH="$work/half" OMP_NUM_THREADS=2
doctor -- ./gcc_app
check 'a runtime without libhierbar.so is found' finds_only missing-libhierbar
check 'the printed command takes a complete one' cures "$(remedy)"

# 8. LD_LIBRARY_PATH under a DT_RPATH.
mkdir packaged
cp -L "$gcc_runtime" packaged/libgomp.so.1
cc -O2 -fopenmp "$sources/teams.c" -pthread -Wl,--disable-new-dtags,-rpath,"$work/packaged" \
  -o rpath_app
with KMP_BARRIER=hier LD_LIBRARY_PATH="$lib" OMP_NUM_THREADS=2
doctor -- ./rpath_app
check 'a DT_RPATH that hides LD_LIBRARY_PATH is found' finds_only rpath-wins
check 'with both files' \
  says "$work/packaged/libgomp.so.1 (DT_RPATH of ./rpath_app) is loaded and not $lib/libgomp.so.1"
check 'the printed command helps' cures "$(remedy)"

with LD_LIBRARY_PATH="$(dirname "$gcc_runtime")" OMP_NUM_THREADS=2
doctor -- ./rpath_app
check 'one that hides a runtime of the same sort is not' is_silent

# 9. A cpu that is offline.
for list in OMP_PLACES='{0},{4095}' GOMP_CPU_AFFINITY='0 4095' \
  KMP_AFFINITY='proclist=[0,4095],explicit'; do
  with "$list" OMP_NUM_THREADS=1
  doctor -- ./gcc_app
  check "an offline cpu in $list is found" finds offline-cpus
  check 'and named' says 'cpu 4095, which is not online'
done

# 10. A program with more rights than its user.
cp gcc_app setuid_app
if chown nobody setuid_app 2>/dev/null && chmod u+s setuid_app; then
  with KMP_BARRIER=hier LD_LIBRARY_PATH="$lib" OMP_NUM_THREADS=2
  doctor -- ./setuid_app
  check 'setuid is found' finds_only setuid
  check 'with a command' same_text "$(remedy)" \
    'cp --no-preserve=all ./setuid_app ./setuid_app.copy && chmod +x ./setuid_app.copy'
  eval "$(remedy)"
  doctor -- ./setuid_app.copy
  check 'whose copy is healthy' is_silent
else
  skip 'only root can make a program of somebody else'
fi

# 11. Further ones.
with LD_LIBRARY_PATH="$lib" OMP_NUM_THREADS=2
doctor -- ./gcc_app
check 'a barrier that was not asked for is found' finds_only barrier-not-set
with OMP_NUM_THREADS=2
cc -O2 -fopenmp "$sources/teams.c" -pthread -static -o static_app 2>/dev/null
doctor -- ./static_app
check 'a runtime that is linked in is found' finds_only static-runtime
with SLURM_CPUS_PER_TASK=4
printf '#!/bin/sh\n' >srun && chmod +x srun
doctor -- ./srun -n 2 ./serial_app
check "a lost --cpus-per-task is found" finds_only lost-cpus-per-task
for given in -c4 '-c 4' --cpus-per-task=4; do
  # shellcheck disable=SC2086 # two words
  doctor -- ./srun -n 2 $given ./serial_app
  check "and not with $given" is_silent
done
with SLURM_CPUS_PER_TASK=4 SRUN_CPUS_PER_TASK=4
doctor -- ./srun -n 2 ./serial_app
check 'nor with SRUN_CPUS_PER_TASK' is_silent
with OMP_PLACES=cores
doctor -- python3 -c pass
check "a binding of Python's main thread is found" finds_only binding-inherited
mv libsecond.so libgone.so
with OMP_NUM_THREADS=2
doctor -- ./two_app
check 'a missing library is found' finds_only missing-library
mv libgone.so libsecond.so

# 12. OpenBLAS with threads of its own: a library that starts threads without OpenMP stands for it.
printf '%s\n' '#include <pthread.h>' \
  'int blas(pthread_t *t, void *(*f)(void *)) { return pthread_create(t, 0, f, 0); }' >blas.c
cc -shared -fPIC blas.c -Wl,-soname,libopenblas.so.0 -o libopenblas.so.0
cc -O2 -fopenmp "$sources/teams.c" -pthread -Wl,--no-as-needed ./libopenblas.so.0 \
  -Wl,-rpath,"$work" -o blas_app
doctor -- ./blas_app
check "OpenBLAS's own threads are found" finds_only openblas-threads
check 'with a command' same_text "$(remedy)" 'OPENBLAS_NUM_THREADS=1 ./blas_app'
with OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=2
doctor -- ./blas_app
check 'and not when it has one' is_silent

# 13. Sanitizers: what `hierbar run` sets for them.
for sanitizer in address:AddressSanitizer:ASAN_OPTIONS=verify_asan_link_order=0 \
  thread:ThreadSanitizer:GLIBC_TUNABLES; do
  IFS=: read -r flag name setting <<<"$sanitizer"
  cc "-fsanitize=$flag" serial.c -o "sanitized_$flag" 2>/dev/null || continue
  doctor -- "./sanitized_$flag"
  check "$name is named" is_silent
  check 'with what is set' says "it was built with $name: 'hierbar run' sets $setting"
done

# 14. MPI_Barrier in a library that the program needs.
if mpicc=$(command -v mpicc.mpich); then
  printf '#include <mpi.h>\nint meet(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n' >meet.c
  printf '%s\n' '#include <mpi.h>' 'int meet(void);' \
    'int main(void) { MPI_Init(0, 0); meet(); return MPI_Finalize(); }' >meets.c
  "$mpicc" -shared -fPIC meet.c -o libmeet.so
  "$mpicc" meets.c ./libmeet.so -Wl,-rpath,"$work" -o meets
  doctor -- ./meets
  check 'a library may call MPI_Barrier' same_text "$(grep -c 'not active' "$work/output")" 0
fi

# --- what only a run shows

cat >opens.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!dlopen(argv[i], RTLD_NOW)) return 1;
  return 0;
}
END
cc opens.c -o opens_app
with OMP_NUM_THREADS=1
doctor -- ./opens_app "$gcc_runtime" "$work/vendored/libgomp-a34b3233.so.1.0.0"
check 'what a program opens later is not seen' is_silent
check 'and that is said' says 'note:  it opens libraries while it runs'
check 'so it is not judged' same_text "$(grep -c 'not active' "$work/output")" 0
doctor --run 20 -- ./opens_app "$gcc_runtime" "$work/vendored/libgomp-a34b3233.so.1.0.0"
check 'with --run it is' finds_only two-runtimes
doctor --run 20 -- sh -c \
  "./opens_app '$gcc_runtime' '$work/vendored/libgomp-a34b3233.so.1.0.0'; true"
check 'in processes that a shell starts as well' finds_only two-runtimes
doctor --run 1 -- sleep 100
check 'what does not end is ended' is_silent

finish
