#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run_cross.sh [--install] NAME [BUILD_DIRECTORY]
#
# Builds all unit tests for the architecture NAME of cmake/cross_machines.txt and runs them under
# qemu-user: the preset NAME without libomp, with what it needs at hand. --install installs missing
# packages by apt-get (as root). BUILD_DIRECTORY: build/NAME-all. Exit status: 77 if something is
# missing.
#
# It shows that the code builds and works there. An emulator on x86 says nothing about weak memory.

set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() { sed -n '5,12s/^# \{0,1\}//p' "$0"; }

skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

# ensure COMMAND_OR_FILE PACKAGE
ensure() {
  if ! command -v "$1" >/dev/null && [[ ! -e $1 ]]; then missing+=("$2"); fi
}

install_missing() { # if it may
  local apt=("$root/cmake/apt_when_free.sh" 900 env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  [[ -n $installs ]] && ((EUID == 0)) && "${apt[@]}" update &&
    "${apt[@]}" install --no-install-recommends "${missing[@]}" >/dev/null
}

main() { # NAME [BUILD_DIRECTORY]
  local target qemu build=${2:-$root/build/$1-all}
  read -r target qemu < <(sed -n "s/^$1  *\([^ ]*\)  *\([^ ]*\) .*/\1 \2/p" \
    "$root/cmake/cross_machines.txt") || {
    printf "run_cross.sh: '%s' is no architecture of cmake/cross_machines.txt\n" "$1" >&2
    exit 2
  }
  missing=()
  ensure "$target-g++" "g++-$target"
  ensure "qemu-$qemu" qemu-user
  ensure ninja ninja-build
  ensure /usr/src/googletest/CMakeLists.txt googletest
  ((${#missing[@]} == 0)) || install_missing ||
    skip "no compiler, emulator or GoogleTest for $1 (Debian: ${missing[*]})"
  "$root/cmake/fetch_cross_hwloc.sh" "$1" || skip "no hwloc for $1"

  cd "$root"
  cmake --preset "$1" -B "$build" -DHIERBAR_BUILD_LIBOMP=OFF -DHIERBAR_TEST_THREADS_ONLY=OFF
  cmake --build "$build" --parallel "$(nproc)"
  ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)"
}

installs=''
if [[ ${1:-} == --install ]]; then installs=yes && shift; fi
case ${1:-} in
  -h | --help) usage ;;
  '' | -*) usage >&2 && exit 2 ;;
  *) main "$@" ;;
esac
