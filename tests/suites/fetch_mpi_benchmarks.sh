#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts the sources of a benchmark of MPI libraries, which checks its results, into a directory.
#
#   fetch_mpi_benchmarks.sh --benchmark osu|imb --out DIR --state DIR [--sources DIR]
#
#   osu  OSU micro-benchmarks 7.2
#   imb  Intel MPI Benchmarks 2021.3
#
# Find or download the authors' archive, as cmake/source_archives.sh does, and unpack it. The user's
# directory is that of --sources, else HIERBAR_SOURCES. If that was done before, nothing is done.

source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/source_archives.sh"

describe_benchmark() { # NAME
  case $1 in
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
    *) fail "--benchmark '$1': allowed: osu, imb" ;;
  esac
  # A stand-in of a few kilobytes has another checksum; only the test of this script sets this.
  upstream_sha256=${HIERBAR_TEST_UPSTREAM_SHA256:-$upstream_sha256}
  archives=("$upstream_archive $upstream_sha256")
  downloads=(download_upstream)
  without='leave it out'
}

unpack() {
  local fresh=$out.fresh
  say "unpacking $archive"
  rm -rf "$fresh"
  mkdir -p "$fresh"
  tar --extract --gzip --file "$archive" --directory="$fresh" --strip-components=1
  mv "$fresh" "$out"
}

main() {
  read_options "benchmark out state sources" "$@"
  describe_benchmark "$benchmark"
  fetch_once --out "$out" --state "$state" ${sources:+--sources "$sources"}
}

main "$@"
