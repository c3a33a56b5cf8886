#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   python_test.sh HIERBAR ENVIRONMENT
#
# PyPI's scikit-learn (a vendored libgomp under a hash) and LightGBM (the system's libgomp) under
# `hierbar run`: one runtime, barriers served, equal results, and forked processes that use OpenMP,
# which hang with their own. ENVIRONMENT is the Python environment, made when it is not there.

source "$(dirname "$0")/../cmake/check.sh"
hierbar=$1 environment=$2
program=$(cd "$(dirname "$0")" && pwd)/python_program.py
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND OMP_NUM_THREADS KMP_AFFINITY \
  KMP_BARRIER KMP_INIT_AT_FORK
if ! "$environment/bin/python" -c 'import lightgbm, sklearn' 2>/dev/null; then
  python3 -m venv "$environment" && "$environment/bin/pip" install --quiet scikit-learn lightgbm ||
    { printf 'skipped: no environment with scikit-learn and lightgbm (PyPI cannot be reached?)\n' &&
      exit 77; }
fi
results() { grep --extended-regexp '^(lightgbm|scikit-learn) ' "$work/output"; }
has_one_runtime() { [[ $(grep '^runtimes ' "$work/output") == "runtimes ${1}" ]] ||
  { sed 's/^/  | /' "$work/output" && false; }; }
may_use_all() { says "cpus process $(nproc) thread $(nproc) subprocess $(nproc)"; }
seconds() { sed --quiet 's/^seconds //p' "$work/output"; }

run timeout 300 "$environment/bin/python" "$program"
check 'the program runs on its own runtimes' succeeded
own=$(results) own_seconds=$(seconds)
run timeout 300 "$hierbar" run --quiet --require-active -- "$environment/bin/python" "$program" pool
check 'and under hierbar run, with forked processes' succeeded
check 'the results are equal' same_text "$(results)" "$own"
check 'the forked processes agree' says 'pool '
preload=$(cd "$(dirname "$hierbar")/.." && pwd)
check 'one runtime is loaded, ours' has_one_runtime \
  "$(find "$preload"/lib* -path '*/hierbar/preload/libgomp.so.1' -print -quit)"
check 'the process, its later threads and subprocesses may use all cpus' may_use_all
check 'barriers were served' says 'barriers served in'
printf 'scikit-learn and LightGBM: own runtimes %s s, hierbar run %s s\n' "$own_seconds" \
  "$(seconds)"

# What doctor says of the program is what the checks above saw.
run timeout 300 "$hierbar" doctor --run 120 -- "$environment/bin/python" "$program"
check 'doctor finds its two runtimes' says 'two-runtimes: a process has 2 OpenMP runtimes'
check "and the threads of numpy's OpenBLAS" says 'openblas-threads: '
run timeout 300 env OPENBLAS_NUM_THREADS=1 "$hierbar" doctor --run 120 -- "$hierbar" run \
  --quiet -- "$environment/bin/python" "$program"
check 'and under hierbar run, with one of these, nothing' says 'nothing found'

# A pool of processes that is forked after a parallel region, with joblib imported. GCC's runtime
# hangs there; it is given time to do so, which says nothing about ours.
run timeout 30 "$environment/bin/python" "$program" pool
if ((status == 124)); then own_pool=hangs; else own_pool="ends with $status"; fi
printf "A pool of processes after a region: own runtimes: %s; hierbar run: passes\n" "$own_pool"

finish
