#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests check_hooks.py with a source file of two functions whose bodies are the same.

source "$(dirname "$0")/check.sh"
check_script=$1/check_hooks.py
patch_script=$1/patch_openmp.sh

sources=$work/sources
file=$sources/openmp/runtime/src/kmp_barrier.cpp
patches=$work/patches
mkdir -p "$(dirname "$file")" "$patches" "$work/nameless"
touch "$(dirname "$file")/kmp.h"

original() { printf '%s\n' 'void first(int tid) {' '  gather();' '  release();' '}' 'void second(int tid) {' '  gather();' '  release();' '}'; }
# A hook in second(), and one in what the first hook leaves behind.
printf '%s\n' 'One hook.' '' '--- a/runtime/src/kmp_barrier.cpp' '+++ b/runtime/src/kmp_barrier.cpp' \
  '@@ -6,2 +6,3 @@ void second(int tid) {' '   gather();' '+  one();' '   release();' >"$patches/1.patch"
printf '%s\n' '--- a/runtime/src/kmp_barrier.cpp' '+++ b/runtime/src/kmp_barrier.cpp' \
  '@@ -7,2 +7,3 @@ void second(int tid) {' '   one();' '+  two();' '   release();' >"$patches/2.patch"

hooks() { run "$check_script" "$sources" "$patches" "$@"; }
failed() { same_text "$status" 1; }
could_not() { same_text "$status" 2; }

# 1. Sources that have moved.
original | sed '1i /* a */\n/* b */\n/* c */' >"$file"
hooks --write "$work/new"
check 'moved lines are found' succeeded
check 'with the place and how far they moved' says 'kmp_barrier.cpp, hunk 1 of 1, second: line 9 (+3)'
check 'a patch finds what the one before it left' says 'second: line 10 (+3)'
check 'and all are counted' says "2 of 2 hooks of $patches fit $sources"
check 'the new patch says where the lines are now' grep --quiet '^@@ -9,2 +9,3 @@ void second(int tid) {$' "$work/new/1.patch"
check 'and keeps what stood before the hooks' grep --quiet '^One hook\.$' "$work/new/1.patch"
run "$patch_script" "$sources" "$work/patched" "$work/new/1.patch" "$work/new/2.patch"
check 'the new patches apply' succeeded
check 'in the right function' same_text "$(sed -n 8,12p "$work/patched/openmp/runtime/src/kmp_barrier.cpp" | tr -d ' \n')" \
  'voidsecond(inttid){gather();one();two();release();'
run "$check_script" "$sources" "$work/new"
check 'nothing has moved any more' says 'second: line 9 (+0)'

# 2. The function decides, not the distance, and not its parameters.
{ printf '/* %d */\n' {1..9} && original; } | sed 's/int tid/int tid, int gtid/' >"$file"
hooks
check 'the same lines of a nearer function are not taken' says 'second: line 15 (+9)'
original | sed 's/second/other/' >"$file"
hooks
check 'lines that are only in other functions are a failure' failed
check 'the functions are named' says 'kmp_barrier.cpp, hunk 1 of 1, second: its lines are only in first, other'

printf '%s\n' '--- a/runtime/src/kmp_barrier.cpp' '+++ b/runtime/src/kmp_barrier.cpp' '@@ -6,2 +6,3 @@' '   gather();' '+  one();' \
  '   release();' >"$work/nameless/1.patch"
run "$check_script" "$sources" "$work/nameless"
check 'a hunk that names no function does not choose between two' failed
sed --in-place '1,4d' "$file"
run "$check_script" "$sources" "$work/nameless"
check 'but takes the only one' says 'in no function: line 2 (-4)'

# 3. Hooks that do not fit.
original | sed 's/release/let_go/' >"$file"
hooks --write "$work/none"
check 'changed lines are a failure' failed
check 'the hook is named' says 'FAILS runtime/src/kmp_barrier.cpp, hunk 1 of 1, second: its lines are not there'
check 'and shown' says '+  one();'
check 'and counted' says "0 of 2 hooks"
rm "$file"
hooks
check 'a file that is gone is a failure' failed

# 4. What cannot be checked.
original >"$file"
run "$check_script" "$work/no-such-directory" "$patches"
check 'a version that is not known is an error' could_not
check 'the known ones are named' says "no LLVM version '$work/no-such-directory' is known; known: "
run "$check_script" "$work" "$patches"
check 'a directory without openmp/ is an error' could_not
check 'it is named' says "$work has no openmp/runtime/src/kmp.h"
mkdir "$work/empty"
run "$check_script" "$sources" "$work/empty"
check 'a directory without patches is an error' says "$work/empty has no *.patch"
head -n 6 "$patches/1.patch" >"$work/empty/1.patch"
run "$check_script" "$sources" "$work/empty"
check 'half a patch is an error' could_not
check 'it is named as well' says "$work/empty/1.patch is no whole patch"

# 5. Patches for LLVM, which come before the hooks.
mkdir "$work/upstream" "$work/behind"
printf '%s\n' 'Subject: [PATCH] a mend' '---' '--- a/openmp/runtime/src/kmp_barrier.cpp' '+++ b/openmp/runtime/src/kmp_barrier.cpp' \
  '@@ -5,2 +5,3 @@ void first(int tid) {' ' void second(int tid) {' '+  mend();' '   gather();' '-- ' '2.39.5' >"$work/upstream/mend.patch"
sed 's/-6,2 +6,3/-7,2 +7,3/' "$patches/1.patch" >"$work/behind/1.patch"
printf '# A comment.\nmend.patch\n' >"$work/behind/upstream.txt"
behind() { run "$check_script" "$sources" "$work/behind" --upstream "$work/upstream" --write "$work/behind-new"; }
behind
check 'hooks are looked for behind them' says 'second: line 7 (+0)'
check 'they are no hooks' says "1 of 1 hooks"
check 'and stay listed' same_text "$(cat "$work/behind-new/upstream.txt")" "$(cat "$work/behind/upstream.txt")"
sed --in-place 's/gather/collect/' "$work/upstream/mend.patch"
behind
check 'one that does not fit is named' says 'upstream/mend.patch does not fit'
check 'which is a failure' failed
check 'and left out' grep --quiet '^# mend.patch: does not fit$' "$work/behind-new/upstream.txt"

run "$check_script" --help
check 'there is help' succeeded

finish
