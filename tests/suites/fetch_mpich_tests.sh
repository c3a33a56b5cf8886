#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts MPICH's own tests, its directory test/mpi, into a directory.
#
#   fetch_mpich_tests.sh --out DIR --state DIR [--sources DIR]
#
# 1. Find or download the archive of Debian 12's source package, as cmake/source_archives.sh does.
#    The user's directory is that of --sources, else HIERBAR_SOURCES. It is the version of the
#    library on which the tests run.
# 2. Unpack test/mpi and nothing else. If that was done before, nothing is done.

source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/source_archives.sh"

debian_package=mpich
debian_version=4.0.2
debian_archive=mpich_4.0.2.orig.tar.xz
debian_suites=(bookworm)
debian_size='22 MB'
# A replacement of a few kilobytes has another checksum; only the test of this script sets this.
debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860}
archives=("$debian_archive $debian_sha256")
downloads=(download_debian)
title='the sources of MPICH 4.0.2'
without='leave its tests out'

unpack() {
  local fresh=$out.fresh
  say "unpacking test/mpi of $archive"
  rm -rf "$fresh" "$out"
  mkdir -p "$fresh"
  tar --extract --xz --file "$archive" --directory="$fresh" --strip-components=3 --anchored \
    --wildcards --no-wildcards-match-slash \
    '*/test/mpi'
  mv "$fresh" "$out"
}

fetch_once "$@"
