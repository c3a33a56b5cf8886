#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fetch_cross_hwloc.sh NAME [DIRECTORY]: downloads Debian's hwloc and libelf for the architecture
# NAME of cross_machines.txt, with which its preset builds libhierbar.so and libomp.so.
#
# Nothing is installed, and the machine gets no foreign architecture. Needs apt-get and dpkg-deb,
# and no root. DIRECTORY is where cmake/cross.cmake looks, ${XDG_CACHE_HOME:-~/.cache}/hierbar/NAME;
# when it is complete, nothing is done.

set -euo pipefail
export LC_ALL=C
here=$(dirname "${BASH_SOURCE[0]}")
source "$here/private_apt.sh"

usage() { sed -n '5,10s/^# \{0,1\}//p' "$0"; }

fail() {
  printf 'fetch_cross_hwloc.sh: %s\n' "$*" >&2
  exit 1
}

# hwloc and libelf, and what they need besides the libraries that come with the cross compiler.
packages=(libhwloc-dev libhwloc15 libudev1 libelf-dev libelf1 zlib1g-dev zlib1g)
# What those of another release need in place of the cross compiler's, and libelf by its name there.
packages_elsewhere=(libhwloc-dev libhwloc15 libudev1 libcap2 libelf-dev libelf1t64 libzstd-dev libzstd1 zlib1g-dev
  zlib1g libc6 libgcc-s1 libstdc++6)

# Downloads and unpacks them. The suite must be the one that the cross compiler's C library is of.
fetch_from() { # MIRROR SUITE ARCHITECTURE
  local package
  write_apt_settings deb "$1" "$2" "$3"
  private_apt apt-get update -qq && (cd "$partial" && private_apt apt-get download \
    -qq "${packages[@]}") || return
  for package in "$partial"/*.deb; do
    dpkg-deb --extract "$package" "$partial/root" || return
  done
}

main() { # NAME [DIRECTORY]
  local mirror architecture suite
  read -r architecture suite < <(sed -n "s/^$1  *[^ ]*  *[^ ]*  *//p" "$here/cross_machines.txt") ||
    fail "'$1' is no architecture of cmake/cross_machines.txt"
  if [[ $suite == - ]]; then
    suite=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  else
    packages=("${packages_elsewhere[@]}")
  fi
  directory=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/$1}
  [[ $(cat "$directory/complete" 2>/dev/null) == "${packages[*]}" ]] && return
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || fail "no $tool here: no hwloc for $architecture"
  done
  mkdir -p "$directory"
  partial=$(mktemp -d "$directory/partial.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  state=$partial/apt
  for mirror in $(configured_mirrors); do
    if fetch_from "$mirror" "$suite" "$architecture" 2>"$partial/log"; then
      rm -rf "$directory/usr"
      mv "$partial/root/usr" "$directory"
      printf '%s\n' "${packages[*]}" >"$directory/complete"
      return
    fi
  done
  fail "cannot get ${packages[*]} of $suite for $architecture: $(
    tail -n 1 "$partial/log" 2>/dev/null || printf 'apt knows no archive')"
}

case ${1:-} in
  -h | --help) usage ;;
  '') usage >&2 && exit 2 ;;
  -*) printf "fetch_cross_hwloc.sh: unknown option '%s'\n" "$1" >&2 && exit 2 ;;
  *) main "$@" ;;
esac
