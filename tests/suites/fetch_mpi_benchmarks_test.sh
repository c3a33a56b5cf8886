#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests fetch_mpi_benchmarks.sh without a network, with an archive of one file and with a script in
# place of curl. What it shares with fetch_openmp.sh is tested there.

source "$(dirname "$0")/../cmake/check.sh"
fetch_script=$(dirname "$0")/fetch_mpi_benchmarks.sh
name=IMB-v2021.3.tar.gz

mkdir -p "$work"/{archives,home,tools,tree/mpi-benchmarks-IMB-v2021.3/src_cpp}
touch "$work/tree/mpi-benchmarks-IMB-v2021.3/src_cpp/Makefile"
tar --create --gzip --file "$work/archives/$name" --directory "$work/tree" \
  mpi-benchmarks-IMB-v2021.3
good=$(sha256sum "$work/archives/$name" | cut -d' ' -f1)
printf '#!/bin/sh\nexit 1\n' >"$work/tools/curl"
chmod +x "$work/tools/curl"

fetch() { # [ARGUMENT...]
  run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" PATH="$work/tools:$PATH" \
    HIERBAR_TEST_UPSTREAM_SHA256="$good" \
    "$fetch_script" --out "$work/out" --state "$work/state" "$@"
}

fetch --benchmark imb
check 'without a network it is an error' same_text "$status" 1
check 'which names the archive and the variable' says \
  "Put $name into a directory and name it in HIERBAR_SOURCES, or leave it out"

fetch --benchmark linpack
check 'an unknown benchmark is an error' says "--benchmark 'linpack': allowed: osu, imb"

fetch --benchmark imb --sources "$work/archives"
check 'a good archive in --sources is taken' succeeded
check 'and unpacked' exists "$work/out/src_cpp/Makefile"

rm -r "$work/archives"
fetch --benchmark imb
check 'what is there is not fetched again' succeeded

finish
