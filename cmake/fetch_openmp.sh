#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts LLVM's openmp/ and cmake/ directories of one version under a directory, from LLVM 23 on with
# what configures openmp/ there: runtimes/, llvm/cmake/ and third-party/unittest/.
#
#   fetch_openmp.sh --version 22.1.8 --out DIR --state DIR [--sources DIR]
#
# 1. Find or download the archive, as source_archives.sh does, with --sources (else HIERBAR_SOURCES)
#    as the user's directory. Two archives serve: LLVM's release archive, and when that cannot be
#    had the one of the distribution's source package.
# 2. Unpack these directories, nothing else.

source "$(dirname "${BASH_SOURCE[0]}")/source_archives.sh"

# Sets what cmake/llvm_versions.txt knows about a version.
describe_version() {
  local known line=()
  known=$(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/llvm_versions.txt")
  read -r -a line < <(awk -v version="$1" '$1 == version' <<<"$known") ||
    fail \
      "no LLVM version '$1' is known; known: $(awk '{print $1}' <<<"$known" | paste --serial --delimiters=' ')"
  upstream_sha256=${line[1]}
  debian_package=${line[2]}
  debian_sha256=${line[3]}
  debian_suites=("${line[@]:4}")
  debian_archive=${debian_package}_$1.orig.tar.xz
  upstream_archive=llvm-project-$1.src.tar.xz
  upstream_url=https://github.com/llvm/llvm-project/releases/download/llvmorg-$1/$upstream_archive
  # Stand-ins of a few kilobytes have other checksums; only the tests of this script set these.
  upstream_sha256=${HIERBAR_TEST_UPSTREAM_SHA256:-$upstream_sha256}
  debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-$debian_sha256}
  # Debian's first, because it is the smaller one.
  archives=("$debian_archive $debian_sha256" "$upstream_archive $upstream_sha256")
  downloads=(download_upstream download_debian)
  upstream_next="trying the distribution's source package"
  debian_version=$1
  debian_size='200 MB'
  title="the sources of LLVM $1"
  without='build without libomp: cmake -DHIERBAR_BUILD_LIBOMP=OFF'
}

unpack() {
  local fresh=$out.fresh directories=(openmp cmake)
  ((${version%%.*} < 23)) || directories+=(runtimes llvm/cmake third-party/unittest)
  say "unpacking ${directories[*]} of $archive (about 15 s)"
  rm -rf "$fresh" "$out"
  mkdir -p "$fresh"
  xz --decompress --stdout --threads=0 "$archive" |
    tar --extract --directory="$fresh" --strip-components=1 --anchored --wildcards \
      --no-wildcards-match-slash "${directories[@]/#/*/}"
  mv "$fresh" "$out"
}

main() {
  read_options "version out state sources" "$@"
  [[ -n $version && -n $out && -n $state ]] || fail "--version, --out and --state are needed"
  describe_version "$version"
  find_archive
  unpack
}

main "$@"
