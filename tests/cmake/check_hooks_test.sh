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
told=$sources/cmake/Modules/LLVMVersion.cmake
mkdir -p "$(dirname "$file")" "$(dirname "$told")" "$patches"/{hooks,llvm-fixes,versions/22.1.8}
touch "$(dirname "$file")/kmp.h"
printf 'if(NOT DEFINED LLVM_VERSION_%s)\n  set(LLVM_VERSION_%s %d)\nendif()\n' MAJOR MAJOR 23 \
  MINOR MINOR 1 \
  PATCH PATCH 0 >"$told"

original() {
  printf '%s\n' 'void first(int tid) {' '  gather();' '  release();' '}' 'void second(int tid) {' \
    '  gather();' \
    '  release();' '}'
}
patch_head() { printf '%s\n' '--- a/runtime/src/kmp_barrier.cpp' \
  '+++ b/runtime/src/kmp_barrier.cpp'; }
# A hook in second(), and one in what the first hook leaves behind.
write_hooks() {
  { printf 'One hook.\n\n' && patch_head &&
    printf '%s\n' '@@ -6,2 +6,3 @@ void second(int tid) {' '   gather();' '+  one();' \
      '   release();'; } >"$patches/hooks/1.patch"
  { patch_head &&
    printf '%s\n' '@@ -7,2 +7,3 @@ void second(int tid) {' '   one();' '+  two();' \
      '   release();'; } >"$patches/hooks/2.patch"
}
write_hooks

hooks() { run "$check_script" "$sources" --patches "$patches" "$@"; }
failed() { same_text "$status" 1; }
could_not() { same_text "$status" 2; }
is_missing_in_output() { ! grep --quiet --fixed-strings "$1" "$work/output"; }
in_patched() { sed -n "$1" "$work/patched/openmp/runtime/src/kmp_barrier.cpp" | tr -d ' \n'; }

# 1. Sources that have moved.
original | sed '1i /* a */' >"$file"
hooks
check 'moved lines are found' succeeded
check 'with the place and how far they moved' says \
  'kmp_barrier.cpp, hunk 1 of 1, second: line 7 (+1)'
check 'a patch finds what the one before it left' says 'second: line 8 (+1)'
check 'and all are counted' says '2 of 2 hooks fit LLVM 23.1.0'
check 'the version has no directory, which is said' says 'LLVM 23.1.0 has no patches of its own'
run "$patch_script" "$sources" "$work/patched" "$patches"/hooks/*.patch
check 'the same patches apply' succeeded
check 'in the right function' same_text "$(in_patched 6,10p)" \
  'voidsecond(inttid){gather();one();two();release();'
hooks --renumber
check 'the line numbers can be made those of the sources' \
  grep --quiet '^@@ -7,2 +7,3 @@ void second(int tid) {$' "$patches/hooks/1.patch"
check 'what stands before the hooks stays' grep --quiet '^One hook\.$' "$patches/hooks/1.patch"
hooks
check 'then nothing has moved any more' says 'second: line 7 (+0)'
write_hooks

# 2. The function decides, not the distance, and not its parameters.
{ printf '/* %d */\n' {1..9} && original; } | sed 's/int tid/int tid, int gtid/' >"$file"
hooks
check 'the same lines of a nearer function are not taken' says 'second: line 15 (+9)'
check 'but patch would take them' says ', but patch takes line 11; more lines of context would help'
check 'so the hook does not fit' failed
original | sed 's/second/other/' >"$file"
hooks
check 'lines that are only in other functions are a failure' failed
check 'the functions are named' says \
  'kmp_barrier.cpp, hunk 1 of 1, second: its lines are only in first, other'

rm "$patches/hooks/2.patch"
{ patch_head && printf '%s\n' '@@ -6,2 +6,3 @@' '   gather();' '+  one();' '   release();'; } \
  >"$patches/hooks/1.patch"
hooks
check 'a hunk that names no function does not choose between two' failed
sed --in-place '1,4d' "$file"
hooks
check 'but takes the only one' says 'in no function: line 2 (-4)'
write_hooks

# 3. Hooks that do not fit.
original | sed 's/release/let_go/' >"$file"
hooks
check 'changed lines are a failure' failed
check 'the hook is named' says \
  'FAILS runtime/src/kmp_barrier.cpp, hunk 1 of 1, second: its lines are not there'
check 'and shown' says '+  one();'
check 'and counted' says '0 of 2 hooks'
hooks --renumber
check 'then no line numbers are written' says 'the line numbers stay as they are'
rm "$file"
hooks
check 'a file that is gone is a failure' failed

# 4. What cannot be checked.
original >"$file"
touch "$work/no-archive.tar.xz"
run "$check_script" "$work/no-archive.tar.xz" --patches "$patches"
check 'a file that is no archive is an error' could_not
check 'it is named as such' says "$work/no-archive.tar.xz is no archive with LLVM's sources"
run "$check_script" "$work/no-such-directory" --patches "$patches"
check 'a version that is not known is an error' could_not
check 'the known ones are named' says "no LLVM version '$work/no-such-directory' is known; known: "
run "$check_script" "$work" --patches "$patches"
check 'a directory without openmp/ is an error' could_not
check 'it is named' says "$work has no openmp/runtime/src/kmp.h"
mkdir -p "$work"/empty/{hooks,versions/22.1.8}
run "$check_script" "$sources" --patches "$work/empty"
check 'a directory without hooks is an error' says "$work/empty/hooks has no *.patch"
head -n 6 "$patches/hooks/1.patch" >"$work/empty/hooks/1.patch"
run "$check_script" "$sources" --patches "$work/empty"
check 'half a patch is an error' could_not
check 'it is named as well' says "$work/empty/hooks/1.patch is no whole patch"

# 5. Patches for LLVM, which come before the hooks, and those of one version.
own=$patches/versions
{ printf '%s\n' 'Subject: [PATCH] a mend' '---' && patch_head | sed 's#/runtime#/openmp/runtime#' &&
  printf '%s\n' '@@ -5,2 +5,3 @@ void first(int tid) {' ' void second(int tid) {' '+  mend();' \
    '   gather();' '-- ' '2.39.5'
} >"$patches/llvm-fixes/mend.patch"
{ patch_head && printf '%s\n' '@@ -1,2 +1,3 @@' ' void first(int tid) {' '+  own();' \
  '   gather();'; } >"$own/22.1.8/own.patch"
hooks --write
check 'hooks are looked for behind both' says 'second: line 8 (+2)'
check 'those for LLVM are no hooks' says '3 of 3 hooks'
check 'a new version gets the patches that the newest one has' grep \
  --quiet '^+  own();$' "$own/23.1.0/own.patch"
check 'and leaves none out' test ! -e "$own/23.1.0/left-out.txt"
hooks
check 'it is then tried with its own' is_missing_in_output 'no patches of its own'
rm -r "$own/23.1.0"
sed --in-place 's/gather/collect/' "$patches/llvm-fixes/mend.patch"
hooks --write
check 'one for LLVM that does not fit is named' says 'llvm-fixes/mend.patch does not fit'
check 'which is a failure' failed
check 'and left out' grep --quiet '^mend.patch: does not fit$' "$own/23.1.0/left-out.txt"
hooks
check 'from then on it is no failure' succeeded

# 6. Which directory a version takes, and archives.
rm -r "$own/23.1.0"
mkdir "$own/24.0.1" "$own/9.0.1"
hooks
check 'a version takes the directory with the highest number below its own' \
  says "those of $own/22.1.8"
mv "$own/22.1.8" "$own/23.1.1"
hooks
check 'not one above it' says "those of $own/9.0.1"
rm -r "$own/9.0.1"
hooks
check 'it must have one' says "no directory for LLVM 23.1.0 or before"
mv "$own/23.1.1" "$own/22.1.8"
tar --create --xz --file "$work/llvm.tar.xz" --directory "$work" \
  --transform 's,^sources,llvm-project-23.1.0.src,' sources
original >"$file"
run "$check_script" "$work/llvm.tar.xz" --patches "$patches"
check 'an archive tells the same as its files' says 'hooks fit LLVM 23.1.0'

run "$check_script" --help
check 'there is help' succeeded

finish
