#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   native_test.sh HIERBAR SOURCE_DIR
#
# Compiled programs as packages install them, under `hierbar run` and on their own runtime: with a
# DT_RPATH to GCC's runtime in a directory of the package (conda), with one in each file and a
# library in between (Spack), and Debian's GROMACS. One runtime is loaded, ours; barriers are
# served; the process, its later threads and subprocesses keep their cpus; the results are equal.
# The times are printed and not judged, losses too.

source "$2/tests/cmake/check.sh"
hierbar=$1 sources=$2/tests
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY \
  KMP_BARRIER OMP_NUM_THREADS
num_cpus=$(nproc)
export OMP_NUM_THREADS=$((num_cpus < 2 ? 2 : num_cpus))
repeats=2

result() { grep '^result ' "$1" || true; }
is_alone() { [[ $(grep --count '^runtime ' "$work/output") == 1 ]] &&
  says '/hierbar/preload/libgomp.so.1'; }
keeps_cpus() { says "cpus start $num_cpus thread $num_cpus after $num_cpus subprocess $num_cpus"; }
is_active() { grep --quiet --extended-regexp 'OpenMP: [1-9][0-9]* barriers served' "$work/output"; }

# best WORD HOW COMMAND...: of several runs the best value on a line that begins with WORD; HOW is -n
# (the smallest) or -nr.
best() {
  local i
  for ((i = 0; i < repeats; ++i)); do
    "${@:3}" 2>&1 | sed --quiet "s/^$1 //p"
  done | sort "$2" | head -n 1
}

cd "$work"
mkdir -p conda/lib spack/gcc-runtime/lib spack/solver/lib
gcc_runtime=$(cc -print-file-name=libgomp.so.1)
for directory in conda/lib spack/gcc-runtime/lib; do
  cp -L "$gcc_runtime" "$directory/libgomp.so.1"
done
c++ -std=c++17 -O2 -fopenmp "$sources/downstream/steps.cpp" \
  -pthread -Wl,--disable-new-dtags,-rpath,"$work/conda/lib" -o conda/app
# Spack's solver is a library with a DT_RPATH of its own; the program does not need the runtime
# itself.
c++ -std=c++17 -O2 -fopenmp -fPIC -shared -Dmain=solver_main "$sources/downstream/steps.cpp" \
  -pthread \
  -Wl,--disable-new-dtags,-rpath,"$work/spack/gcc-runtime/lib" -o spack/solver/lib/libsolver.so
printf '%s\n' 'int solver_main(int, char **);' \
  'int main(int argc, char **argv) { return solver_main(argc, argv); }' >main.cpp
c++ main.cpp spack/solver/lib/libsolver.so -Wl,--disable-new-dtags,-rpath,"$work/spack/solver/lib" \
  -o spack/app

for app in conda spack; do
  for how in 'loop 4000' 'regions 4000' 'threads 1000'; do
    read -ra arguments <<<"$how"
    own=("$work/$app/app" "${arguments[@]}")
    run timeout 120 "${own[@]}"
    check "$app, $how: it runs on its own runtime" succeeded
    check "$app, $how: which is the package's" says "runtime $work/$app"
    before=$(result "$work/output")
    run timeout 120 "$hierbar" run --quiet --require-active -- "${own[@]}"
    check "$app, $how: under hierbar run as well" succeeded
    check "$app, $how: the results are equal" same_text "$(result "$work/output")" "$before"
    check "$app, $how: one runtime is loaded, ours" is_alone
    check "$app, $how: barriers are served" is_active
    check "$app, $how: threads and subprocesses keep the process's cpus" keeps_cpus
    run timeout 60 "$hierbar" doctor -- "$hierbar" run -- "${own[@]}"
    check "$app, $how: doctor finds nothing wrong with that" succeeded
    printf '%-5s %-14s own runtime %s s, hierbar run %s s\n' "$app" "$how" \
      "$(best seconds -n timeout 120 "${own[@]}")" \
      "$(best seconds -n timeout 120 "$hierbar" run --quiet -- "${own[@]}")"
  done
done

gromacs() { env HIERBAR_GROMACS_STEPS=2000 timeout 300 "$@" "$sources/libomp/gromacs_program.sh"; }
if command -v gmx >/dev/null; then
  gromacs >own.txt 2>own.log || { cat own.log && false; }
  run gromacs "$hierbar" run --quiet --require-active --
  check 'GROMACS runs under hierbar run' succeeded
  check 'its barriers are served' is_active
  sed '/^hierbar run: \|^ns_per_day /d' "$work/output" >ours.txt
  check 'the energies are equal' cmp own.txt ours.txt
  printf 'GROMACS own runtime %s ns/day, hierbar run %s ns/day\n' "$(best ns_per_day -nr gromacs)" \
    "$(best ns_per_day -nr gromacs "$hierbar" run --quiet --)"
else
  printf 'skipped: there is no gmx (Debian: gromacs)\n'
fi

finish
