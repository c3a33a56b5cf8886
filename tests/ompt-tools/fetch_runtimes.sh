#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fetch_runtimes.sh [DIRECTORY]: downloads other OpenMP runtimes, on which libhierbar_ompt.so is
# tested: Debian 12's of LLVM 14 and 16, and Intel's from PyPI.
#
# Nothing is installed. Needs apt-get and dpkg-deb, or pip and unzip, and no root. DIRECTORY is
# where CMake looks for them (HIERBAR_OMPT_RUNTIMES), ${XDG_CACHE_HOME:-~/.cache}/hierbar/runtimes.
# A runtime that is there is not fetched again; one that cannot be had is told and left out. Exit
# status: 0 all are there, 1 some are not, 2 wrong arguments.

set -euo pipefail

usage() { sed -n '5,11s/^# \{0,1\}//p' "$0"; }

case ${1:-} in
  -h | --help) usage && exit 0 ;;
  -*) printf "fetch_runtimes.sh: unknown option '%s'\n" "$1" >&2 && exit 2 ;;
esac
(($# <= 1)) || { printf 'fetch_runtimes.sh: one directory at most, not %d\n' $# >&2 && exit 2; }
directory=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/runtimes}
intel_version=2026.2.0

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
partial=$(mktemp -d "$directory/partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT

# apt gives downloads to a user who may not write here; that user exists to protect a root who
# installs things.
fetch_llvm() { # MAJOR
  cd "$partial" && mkdir "llvm-$1" && apt-get -qq -o APT::Sandbox::User="$(id -un)" \
    download "libomp5-$1" &&
    dpkg-deb --extract libomp5-"$1"_*.deb unpacked && cp -L \
      unpacked/usr/lib/llvm-"$1"/lib/libomp.so.5 "llvm-$1"
}

# Programs that Clang built on Debian ask for libomp.so.5.
fetch_intel() {
  cd "$partial" && mkdir intel && pip --quiet download --no-deps "intel-openmp==$intel_version" && \
    unzip -q intel_openmp-*.whl '*/libiomp5.so' &&
    find . -path '*/lib/libiomp5.so' -exec cp {} intel/ ';' && ln -s libiomp5.so intel/libomp.so.5 \
      && [[ -s intel/libomp.so.5 ]]
}

status=0
# fetch NAME COMMAND...: what COMMAND leaves in $partial/NAME becomes $directory/NAME.
fetch() {
  local name=$1
  shift
  [[ -e $directory/$name/libomp.so.5 ]] && return
  if ("$@") >"$partial/log" 2>&1; then
    rm -rf "${directory:?}/$name" && mv "$partial/$name" "$directory/$name"
  else
    printf 'fetch_runtimes.sh: no %s: %s\n' "$name" "$(tail -n 1 "$partial/log")" >&2
    status=1
  fi
}

fetch llvm-14 fetch_llvm 14
fetch llvm-16 fetch_llvm 16
fetch intel fetch_intel
exit "$status"
