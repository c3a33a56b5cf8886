#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts the sources of somebody else's suite into a directory.
#
#   fetch_suite.sh --suite mpich|osu|imb --out DIR --state DIR [--sources DIR]
#
#   mpich  MPICH's own tests, its directory test/mpi and nothing else, of Debian 12's source package:
#          the version of the library on which the tests run
#   osu    OSU micro-benchmarks 7.2, from their authors; like the next ones they check their results
#   imb    Intel MPI Benchmarks 2021.3, from their authors
#
# Find or download the archive, as cmake/source_archives.sh does, and unpack it. The user's directory
# is that of --sources, else HIERBAR_SOURCES. If that was done before, nothing is done.

source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/source_archives.sh"

describe_suite() { # NAME
  # Stand-ins of a few kilobytes have other checksums; only the test of this script sets these.
  case $1 in
    mpich)
      title='the sources of MPICH 4.0.2'
      debian_package=mpich
      debian_version=4.0.2
      debian_archive=mpich_4.0.2.orig.tar.xz
      debian_suites=(bookworm)
      debian_size='22 MB'
      debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860}
      archives=("$debian_archive $debian_sha256")
      downloads=(download_debian)
      without='leave its tests out'
      tar_options=(--xz --strip-components=3 --anchored --wildcards --no-wildcards-match-slash
        '*/test/mpi')
      return
      ;;
    osu)
      title='the OSU micro-benchmarks 7.2'
      upstream_archive=osu-micro-benchmarks-7.2.tar.gz
      upstream_url=https://mvapich.cse.ohio-state.edu/download/mvapich/$upstream_archive
      upstream_sha256=1a4e1f2aab0e65404b3414e23bd46616184b69b6231ce9313d9c630bd6e633c1
      ;;
    imb)
      title='the Intel MPI Benchmarks 2021.3'
      upstream_archive=IMB-v2021.3.tar.gz
      upstream_url=https://github.com/intel/mpi-benchmarks/archive/refs/tags/$upstream_archive
      upstream_sha256=9b58a4a7eef7c0c877513152340948402fd87cb06270d2d81308dc2ef740f4c7
      ;;
    *) fail "--suite '$1': allowed: mpich, osu, imb" ;;
  esac
  upstream_sha256=${HIERBAR_TEST_UPSTREAM_SHA256:-$upstream_sha256}
  archives=("$upstream_archive $upstream_sha256")
  downloads=(download_upstream)
  without='leave it out'
  tar_options=(--gzip --strip-components=1)
}

unpack() {
  local fresh=$out.fresh
  say "unpacking what is needed of $archive"
  rm -rf "$fresh"
  mkdir -p "$fresh"
  tar --extract --file "$archive" --directory="$fresh" "${tar_options[@]}"
  mv "$fresh" "$out"
}

main() {
  read_options "suite out state sources" "$@"
  describe_suite "$suite"
  fetch_once --out "$out" --state "$state" ${sources:+--sources "$sources"}
}

main "$@"
