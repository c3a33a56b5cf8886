#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   other_abi_test.sh CC SHIM OTHER_SHIM|-
#
# In a program without MPI, and in one whose library is neither family's, a shim passes every call
# on, and says so in one line.

set -eu
cc=$1 shim=$2 other=$3
sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # NAME LINE PRELOADED
  local output
  output=$(LD_PRELOAD=$3 "$work/$1" 2>"$work/errors") ||
    { cat "$work/errors" && echo "FAILED: $1 under $3" && exit 1; }
  if [[ $output != 'the program has ended' ]] || (($(wc -l <"$work/errors") != 1)) ||
    ! grep -qE "$2" "$work/errors"; then
    printf '%s\n' "$output"
    cat "$work/errors"
    echo "FAILED: $1 under $3 does not say '$2' alone"
    exit 1
  fi
}

# A whole library has all functions that a shim looks for.
sed -n '/^#define HIERBAR_PMPI_FUNCTIONS/,/[^\\]$/p' "$sources/../../../mpi/library/pmpi.hpp" |
  grep -oE 'X\([A-Z][a-z_]+\)' | sed 's/^X/FUNCTION/' >"$work/functions.h"

make() { # NAME FLAG...
  "$cc" -O2 -shared -fPIC -I"$work" "${@:2}" "$sources/other_abi.c" -o "$work/lib$1.so"
  "$cc" -O2 -DPROGRAM "$sources/other_abi.c" -o "$work/$1" -L"$work" "-l$1" -Wl,-rpath,"$work"
}

make sequential -DSEQUENTIAL
make whole
expect sequential 'no MPI library with PMPI_Barrier; libhierbar_mpi.*\.so does nothing here' "$shim"
refusal='but libhierbar_mpi.*\.so is for .* only .*; it does nothing here'
[[ $shim != *_any.so ]] ||
  refusal='for which hierbar has no shim; libhierbar_mpi_any\.so does nothing here'
expect whole "uses .*/libwhole\.so, $refusal" "$shim"
if [[ $other != - ]]; then
  expect sequential 'does nothing here' "$shim:$other"
  expect whole 'does nothing here' "$shim:$other"
fi
