#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the machines of recorded_machines.txt as hwloc XML files into a directory.
#
#   fetch_topologies.sh [--out DIR] [--state DIR] [--sources DIR]
#
# DIR of --out is where CMake looks (HIERBAR_TOPOLOGIES),
# ${XDG_CACHE_HOME:-~/.cache}/hierbar/topologies.
#
# 1. When the directory holds what this script makes of this list, nothing is done.
# 2. Find or download the archive of Debian 12's source package hwloc, as cmake/source_archives.sh
#    does, with --sources (else HIERBAR_SOURCES) as the user's directory and --state for apt.
# 3. Unpack its recordings. A machine's folder says what they are: `linux` what Linux tells in /sys
#    and /proc, `x86` what the cpus tell, `x86+linux` both, `xml` a file that hwloc has written.
# 4. Have Debian's lstopo-no-graphics (package hwloc-nox) read each and write it as XML. When one
#    fails, the directory stays as it was.

source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/source_archives.sh"

debian_package=hwloc
debian_version=2.9.0
debian_archive=hwloc_2.9.0.orig.tar.bz2
debian_suites=(bookworm)
debian_size='3 MB'
# A stand-in of a few kilobytes has another checksum and other machines; only the test of this
# script sets these.
debian_sha256=b3fb1a43a14d8fbcd8e976de5ede2ea7ce1d768ed173adb33c7ceaaf098dc970
debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-$debian_sha256}
list=${HIERBAR_TEST_MACHINES:-$(dirname "${BASH_SOURCE[0]}")/recorded_machines.txt}
archives=("$debian_archive $debian_sha256")
downloads=(download_debian)
title='the sources of hwloc 2.9.0'
without='leave the tests on recorded machines out'

machines() { sed '/^\(#\|$\)/d' "$list"; }

# What the directory's content depends on.
fingerprint() { cat "$list" "${BASH_SOURCE[0]}" | sha256sum; }

# lstopo with the given variables alone, since hwloc's in the environment of this script would
# count.
export_xml() { # FILE [VARIABLE=VALUE...] [-- OPTION...]
  local file=$1 settings=()
  shift
  while (($#)) && [[ $1 != -- ]]; do
    settings+=("$1") && shift
  done
  shift || true
  env -i PATH="$PATH" HWLOC_HIDE_ERRORS=2 "${settings[@]}" \
    lstopo-no-graphics "$@" --no-io --disallowed --output-format xml "$file"
}

# The variables are those of hwloc's own tests of these recordings.
export_machine() { # FOLDER/NAME [VARIABLE=VALUE...]
  local folder=${1%%/*} name=${1#*/} root
  local file=$fresh/$name.xml
  if [[ $folder == xml ]]; then
    export_xml "$file" "${@:2}" -- --input "$recordings/$1.xml"
    return
  fi
  mkdir "$recordings/$name"
  tar --extract --bzip2 --file "$recordings/$1.tar.bz2" --directory "$recordings/$name"
  root=$(echo "$recordings/$name"/*)
  case $folder in
    linux)
      export_xml "$file" HWLOC_COMPONENTS=linux,stop HWLOC_FSROOT="$root" \
        HWLOC_DUMPED_HWDATA_DIR=/var/run/hwloc "${@:2}"
      ;;
    x86)
      export_xml "$file" HWLOC_COMPONENTS=x86,stop HWLOC_CPUID_PATH="$root" \
        HWLOC_X86_TOPOEXT_NUMANODES=1 "${@:2}"
      ;;
    x86+linux)
      export_xml "$file" HWLOC_COMPONENTS=x86,linux,stop HWLOC_FSROOT="$root/fsroot" \
        HWLOC_CPUID_PATH="$root/cpuid" "${@:2}"
      ;;
    *) fail "$list: unknown folder of '$1'" ;;
  esac
}

export_machines() {
  local fresh=$out.fresh recordings=$out.recordings machine
  say "writing the machines of $archive as XML files into $out"
  rm -rf "$fresh" "$recordings"
  mkdir -p "$fresh" "$recordings"
  tar --extract --bzip2 --file "$archive" --directory "$recordings" \
    --strip-components=3 --anchored --wildcards \
    --no-wildcards-match-slash '*/tests/hwloc/'{linux,x86,x86+linux,xml}
  while read -ra machine; do
    export_machine "${machine[@]}" ||
      fail "lstopo-no-graphics cannot read ${machine[0]} of $archive"
  done < <(machines)
  rm -rf "$recordings" "$out"
  fingerprint >"$fresh/complete"
  mv "$fresh" "$out"
}

main() {
  local out state sources archive
  read_options "out state sources" "$@"
  out=${out:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/topologies}
  state=${state:-$out.state}
  [[ $(cat "$out/complete" 2>/dev/null) != "$(fingerprint)" ]] || return 0
  command -v lstopo-no-graphics >/dev/null ||
    fail "there is no lstopo-no-graphics here (Debian: hwloc-nox): install it, or $without"
  find_archive
  export_machines
  rm -rf "$out.state"
}

main "$@"
