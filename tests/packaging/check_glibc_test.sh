#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   check_glibc_test.sh SCRIPT
#
# Tests of packaging/check_glibc.sh on libraries with one symbol, which they need from this version
# of glibc or that.

source "$(dirname "$0")/../cmake/check.sh"
script=$1
fails_with() { [[ $status == "$1" ]]; }

# library NAME VERSION: needs `symbol` of glibc VERSION.
library() {
  printf 'GLIBC_%s { global: symbol; };\n' "$2" >"$work/map"
  printf 'void symbol(void) {}\n' >"$work/libc.c"
  "${CC:-cc}" -shared -fPIC -nostdlib "$work/libc.c" -Wl,--version-script="$work/map" \
    -Wl,-soname,libc.so.6 -o "$work/libc.so.6"
  printf 'void symbol(void);\nvoid call(void) { symbol(); }\n' >"$work/call.c"
  "${CC:-cc}" -shared -fPIC -nostdlib "$work/call.c" "$work/libc.so.6" -o "$1"
}

mkdir -p "$work/files/inside"
run "$script" 2.34 "$work/files"
check 'a directory without programs is an error' fails_with 2
library "$work/files/inside/old.so" 2.2.5
library "$work/files/new.so" 2.34
printf 'text\n' >"$work/files/text"
run "$script" 2.34 "$work/files"
check 'the version itself is old enough' succeeded
check 'only programs and libraries count' says '2 files'
run "$script" 2.33 "$work/files"
check 'a newer symbol is an error' fails_with 1
check 'which names the file and the symbol' says "$work/files/new.so needs glibc 2.34 for symbol"
run "$script" 34 "$work/files"
check 'a version that is none is refused' fails_with 2

finish
