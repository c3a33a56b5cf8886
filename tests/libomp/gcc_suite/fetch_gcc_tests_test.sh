#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests fetch_gcc_tests.sh with an archive of a few files, so without a network. What it shares with
# fetch_openmp.sh is tested there.

source "$(dirname "$0")/../../cmake/check.sh"
fetch_script=$(dirname "$0")/fetch_gcc_tests.sh
name=gcc-12_12.2.0.orig.tar.gz

mkdir -p "$work"/{archives,home,tools} \
  "$work"/tree/gcc-12.2.0/{libgomp/testsuite/libgomp.c,gcc/testsuite} "$work/outer/gcc-12-12.2.0"
touch \
  "$work"/tree/gcc-12.2.0/{libgomp/testsuite/libgomp.c/a.c,libgomp/libgomp_g.h,gcc/testsuite/b.c}
tar --create --xz --file "$work/outer/gcc-12-12.2.0/gcc-12.2.0-dfsg.tar.xz" \
  --directory "$work/tree" gcc-12.2.0
touch "$work/outer/gcc-12-12.2.0/other"
tar --create --gzip --file "$work/archives/$name" --directory "$work/outer" gcc-12-12.2.0
good=$(sha256sum "$work/archives/$name" | cut -d' ' -f1)
wrong=$(printf '%064d' 0)
printf '#!/bin/sh\nexit 1\n' | tee "$work/tools/apt-get" >"$work/tools/apt-cache"
chmod +x "$work"/tools/*

fetch() { # SHA256 [ARGUMENT...]
  run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" PATH="$work/tools:$PATH" \
    HIERBAR_TEST_DEBIAN_SHA256="$1" \
    "$fetch_script" --out "$work/out" --state "$work/state" "${@:2}"
}

only_libgomp_is_unpacked() {
  same_text "$(cd "$work/out" && find . -type f | sort | xargs)" \
    './libgomp_g.h ./testsuite/libgomp.c/a.c'
}

HIERBAR_OFFLINE=1 fetch "$good"
check 'without an archive and a network it is an error' same_text "$status" 1
check 'which names the archive and the variable' says \
  "Put $name into a directory and name it in HIERBAR_SOURCES, or leave these tests out"

fetch "$wrong" --sources "$work/archives"
check 'a wrong checksum is an error' says \
  "wrong SHA-256 of $work/archives/$name: expected $wrong, actual $good"
check 'nothing is unpacked then' is_missing "$work/out"

fetch "$good" --sources "$work/archives"
check 'a good archive in --sources is taken' succeeded
check 'only libgomp is unpacked, from the archive in the archive' only_libgomp_is_unpacked
rm "$work/archives/$name"
fetch "$good"
check 'what is there is not fetched again' succeeded

finish
