#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests patch_openmp.sh: what is patched, and which files a build would compile again.

source "$(dirname "$0")/check.sh"
patch_script=$1/patch_openmp.sh

stock=$work/stock
out=$work/out
mkdir -p "$stock"/{openmp,cmake}
printf 'one\ntwo\nthree\n' | tee "$stock/openmp/a.c" >"$stock/openmp/b.c"
touch --date=2001-01-01 "$stock"/openmp/*

make_patch() { # FILE NEW_SECOND_LINE > patch
  printf -- '--- a/%s\n+++ b/%s\n@@ -1,3 +1,3 @@\n one\n-two\n+%s\n three\n' "$1" "$1" "$2"
}
make_patch a.c changed >"$work/1.patch"
make_patch b.c changed >"$work/2.patch"

is_old() { [[ $(stat --format=%Y "$out/openmp/$1") -lt 1000000000 ]]; }
is_new() { ! is_old "$1"; }
make_all_old() { touch --date=2001-01-01 "$out"/openmp/*; }

run "$patch_script" "$stock" "$out" "$work/1.patch"
check 'the patched file is changed' same_text "$(sed -n 2p "$out/openmp/a.c")" changed
check 'the other is not' same_text "$(sed -n 2p "$out/openmp/b.c")" two
check 'stock stays as it was' same_text "$(sed -n 2p "$stock/openmp/a.c")" two

make_all_old
run "$patch_script" "$stock" "$out" "$work/1.patch" "$work/2.patch"
check 'a file that an unchanged patch made keeps its time' is_old a.c
check 'a file that a new patch changes gets a new one' is_new b.c

make_all_old
run "$patch_script" "$stock" "$out" "$work/2.patch"
check 'without its patch the file is stock again' same_text "$(sed -n 2p "$out/openmp/a.c")" two
check 'and gets a new time' is_new a.c
check 'the still patched one keeps its own' is_old b.c

# LLVM's own patches, among ours.
make_patch b.c changed | sed 's#\([ab]\)/b.c#\1/openmp/b.c#' >"$work/upstream.patch"
run "$patch_script" "$stock" "$out" "$work/upstream.patch" "$work/1.patch"
check 'a patch whose paths begin above openmp/ is applied' same_text \
  "$(sed -n 2p "$out/openmp/b.c")" changed
check 'and so is one behind it whose paths begin there' same_text "$(sed -n 2p "$out/openmp/a.c")" \
  changed
run "$patch_script" "$stock" "$out" "$work/2.patch"

make_patch a.c changed | sed 's/ one/ ONE/' >"$work/bad.patch"
run "$patch_script" "$stock" "$out" "$work/bad.patch"
check 'a patch that would need fuzz is an error' same_text "$status" 1
check 'it names the patch' says "$work/bad.patch does not apply"
check 'what was there before stays' same_text "$(sed -n 2p "$out/openmp/b.c")" changed

finish
