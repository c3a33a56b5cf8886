#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   torch_test.sh HIERBAR [PYTHON]
#
# PyTorch under `hierbar run`: a small decoder by PyTorch's own kernels and by those of
# torch.compile, training with processes that load data, and training by two processes. Barriers are
# served, and the results are those of PyTorch's own libgomp. Skipped if PYTHON (default: python3)
# has no torch.

source "$(dirname "$0")/../cmake/check.sh"
hierbar=$1 python=${2:-python3}
decoder=$(cd "$(dirname "$0")/../.." && pwd)/bench/programs/rows/inference/torch_decoder.py
unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH OMP_PLACES OMP_PROC_BIND KMP_AFFINITY KMP_BARRIER \
  KMP_INIT_AT_FORK
export OMP_NUM_THREADS=2
"$python" -c 'import torch' 2>/dev/null ||
  { printf 'skipped: %s has no torch\n' "$python" && exit 77; }
results() { grep --extended-regexp '^(tokens|loss): ' "$work/output"; }

for mode in eager compile loader ddp; do
  # Its own runtime's threads would otherwise poll while others need the cpus.
  run env OMP_WAIT_POLICY=passive timeout 600 "$python" -B "$decoder" "$mode" 4
  check "$mode runs on PyTorch's own runtime" succeeded
  own=$(results)
  run timeout 600 "$hierbar" run --require-active -- "$python" -B "$decoder" "$mode" 4
  check "$mode runs under hierbar run, and barriers are served" succeeded
  check "$mode has the same results" same_text "$(results)" "$own"
done
finish
