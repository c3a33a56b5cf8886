#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts GCC's own tests of libgomp under a directory.
#
#   fetch_gcc_tests.sh --out DIR --state DIR [--sources DIR]
#
# 1. Find or download the archive of Debian 12's source package, as cmake/source_archives.sh does,
#    with --sources (else HIERBAR_SOURCES) as the user's directory. With HIERBAR_OFFLINE=1 nothing
#    is downloaded.
# 2. Unpack libgomp's folder, which has the tests and the headers that some of them include, and
#    nothing else. The archive holds another one, of GCC. When that was done before, nothing is
#    done.

source "$(dirname "${BASH_SOURCE[0]}")/../../../cmake/source_archives.sh"

debian_package=gcc-12
debian_version=12.2.0
debian_archive=gcc-12_12.2.0.orig.tar.gz
debian_suites=(bookworm)
debian_size='87 MB'
# A stand-in of a few kilobytes has another checksum; only the test of this script sets this.
debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-b8298be16aeeb96a889c6afed0a8e2241b47452e89cc81fe65ea849d5c740fcb}
archives=("$debian_archive $debian_sha256")
title="the sources of GCC's tests"
without='leave these tests out'
downloads=(download_debian)
if [[ ${HIERBAR_OFFLINE:-} == 1 ]]; then
  downloads=()
fi

unpack() {
  local fresh=$out.fresh inner
  say "unpacking libgomp of $archive (about 20 s)"
  rm -rf "$fresh" "$out"
  mkdir -p "$fresh"
  inner=$(tar --list --gzip --file "$archive" | grep --extended-regexp --max-count=1 '/gcc-[0-9.]+(-dfsg)?\.tar\.[a-z0-9]+$' || true)
  [[ -n $inner ]] || fail "$archive has no archive of GCC in it"
  tar --extract --gzip --to-stdout --file "$archive" "$inner" >"$fresh.${inner##*/}"
  tar --extract --auto-compress --file "$fresh.${inner##*/}" --directory="$fresh" \
    --strip-components=2 --anchored --wildcards \
    --no-wildcards-match-slash '*/libgomp'
  rm "$fresh.${inner##*/}"
  mv "$fresh" "$out"
}

fetch_once "$@"
