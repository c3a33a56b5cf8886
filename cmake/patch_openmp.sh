#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   patch_openmp.sh STOCK_DIR OUT_DIR [PATCH...]
#
# Makes OUT_DIR a copy of STOCK_DIR with the patches applied in the order given. The paths in a
# patch begin at openmp/, as in our hooks, or above it, as in LLVM's repository. Against an earlier
# OUT_DIR, files that come out as they were keep their times and the others get the present one, so
# that a changed or dropped patch recompiles what it touches and nothing else.

set -euo pipefail
export LC_ALL=C

stock=$1 out=$2
fresh=$out.fresh
shift 2

rm -rf "$fresh"
cp -a "$stock" "$fresh"
for file in "$@"; do
  directory=$fresh/openmp
  if grep --quiet '^+++ b/openmp/' "$file"; then
    directory=$fresh
  fi
  # Fuzz would let a hook slip to another place in a version that it was not written for. That it
  # does not go to another place where the same lines are is what check_hooks.py tests.
  patch --directory="$directory" --strip=1 --fuzz=0 --forward --quiet --no-backup-if-mismatch \
    <"$file" || {
    printf 'hierbar: error: %s does not apply to %s/openmp\n' "$file" "$stock" >&2
    exit 1
  }
done
if [[ -d $out ]]; then
  (cd "$fresh" && find . -type f -print0) | while IFS= read -r -d '' file; do
    if cmp --silent "$fresh/$file" "$out/$file"; then
      touch --reference="$out/$file" "$fresh/$file"
    else
      touch "$fresh/$file"
    fi
  done
  rm -rf "$out"
fi
mv "$fresh" "$out"
