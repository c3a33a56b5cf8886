#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fetch_aarch64_hwloc.sh [DIRECTORY]: downloads Debian's hwloc and libelf for AArch64, with which
# the preset aarch64 builds libhierbar.so, libomp.so and the command.
#
# Nothing is installed, and the machine gets no foreign architecture. Needs apt-get and dpkg-deb,
# and no root. DIRECTORY is where cmake/aarch64-linux-gnu.cmake looks,
# ${XDG_CACHE_HOME:-~/.cache}/hierbar/aarch64; when it is complete, nothing is done.

set -euo pipefail
export LC_ALL=C
source "$(dirname "${BASH_SOURCE[0]}")/private_apt.sh"

usage() { sed -n '5,9s/^# \{0,1\}//p' "$0"; }

fail() {
  printf 'fetch_aarch64_hwloc.sh: %s\n' "$*" >&2
  exit 1
}

# hwloc and libelf, and what they need besides the libraries that come with the cross compiler.
packages=(libhwloc-dev libhwloc15 libudev1 libelf-dev libelf1 zlib1g-dev zlib1g)

# Downloads and unpacks them. The suite must be the one that the cross compiler's C library is of.
fetch_from() { # MIRROR SUITE
  local package
  write_apt_settings deb "$1" "$2" arm64
  private_apt apt-get update -qq && (cd "$partial" && private_apt apt-get download \
    -qq "${packages[@]}") || return
  for package in "$partial"/*.deb; do
    dpkg-deb --extract "$package" "$partial/root" || return
  done
}

main() {
  local mirror suite
  directory=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/aarch64}
  [[ $(cat "$directory/complete" 2>/dev/null) == "${packages[*]}" ]] && return
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || fail "no $tool here: no hwloc for AArch64"
  done
  suite=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  mkdir -p "$directory"
  partial=$(mktemp -d "$directory/partial.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  state=$partial/apt
  for mirror in $(configured_mirrors); do
    if fetch_from "$mirror" "$suite" 2>"$partial/log"; then
      rm -rf "$directory/usr"
      mv "$partial/root/usr" "$directory"
      printf '%s\n' "${packages[*]}" >"$directory/complete"
      return
    fi
  done
  fail \
    "cannot get ${packages[*]} of $suite for arm64: $(tail -n 1 "$partial/log" 2>/dev/null || printf 'apt knows no archive')"
}

case ${1:-} in
  -h | --help) usage ;;
  -*) printf "fetch_aarch64_hwloc.sh: unknown option '%s'\n" "$1" >&2 && exit 2 ;;
  *) main "$@" ;;
esac
