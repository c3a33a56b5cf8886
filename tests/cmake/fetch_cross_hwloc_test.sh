#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests fetch_cross_hwloc.sh with a stand-in for apt, so without a network.

source "$(dirname "$0")/check.sh"
fetch_script=$1/fetch_cross_hwloc.sh
command -v dpkg-deb >/dev/null || { echo 'skipped: there is no dpkg-deb, to make a package with' &&
  exit 77; }
cache=$work/home/.cache/hierbar
directory=$cache/aarch64

# An apt that has two archives, of which only the second has the packages. It keeps the settings
# that it was called with.
start_case() {
  rm -rf "$work"/{home,tools}
  mkdir -p "$work"/{home,tools,package/usr/lib,package/DEBIAN}
  printf \
    'Package: some\nVersion: 1\nArchitecture: arm64\nMaintainer: test <test@test>\nDescription: test\n' \
    >"$work/package/DEBIAN/control"
  touch "$work/package/usr/lib/libhwloc.so"
  dpkg-deb --build "$work/package" "$work/some.deb" >/dev/null
  cat >"$work/tools/apt-get" <<END
#!/bin/bash
[[ \$1 == --config-file=* ]] && state=\${1#--config-file=} && state=\${state%/apt.conf} && cp "\$state/apt.conf" "\$state/etc/sources.list" "$work/home"
case "\$*" in
  *--print-uris*)
    echo "'http://first.test/debian/dists/stable/InRelease' a 0"
    echo "'http://second.test/debian/dists/stable/InRelease' a 0"
    ;;
  *update*) exit 0 ;;
  *download*) grep -q second "$work/home/sources.list" && cp "$work/some.deb" . || { echo 'E: no such package' >&2; exit 1; } ;;
esac
END
  chmod +x "$work/tools/apt-get"
}

fetch() { run env -u XDG_CACHE_HOME HOME="$work/home" PATH="$work/tools:$PATH" "$fetch_script" \
  "$@"; }

start_case
fetch aarch64
check 'the packages are unpacked' exists "$directory/usr/lib/libhwloc.so"
check 'and that is all' same_text "$(ls "$directory" | tr '\n' ' ')" 'complete usr '
check 'they are those of arm64' grep --quiet 'APT::Architecture "arm64"' "$work/home/apt.conf"
check 'of the suite of this machine' grep --quiet \
  "second.test/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" \
  "$work/home/sources.list"

printf '#!/bin/sh\nexit 1\n' >"$work/tools/apt-get"
fetch aarch64
check 'what is complete is not fetched again' succeeded
echo 'libhwloc-dev' >"$directory/complete"
fetch aarch64
check 'what an older version has fetched is not complete' same_text "$status" 1

start_case
sed -i '/second.test/d' "$work/tools/apt-get"
fetch aarch64
check 'packages that cannot be had are an error' same_text "$status" 1
check 'which names them' says \
  'cannot get libhwloc-dev libhwloc15 libudev1 libelf-dev libelf1 zlib1g-dev zlib1g of'
check 'and tells what apt said' says 'E: no such package'
check 'nothing is left' same_text "$(ls "$directory")" ''

start_case
fetch riscv64
check 'an architecture that this release lacks comes from another one' grep --quiet \
  'second.test/debian trixie main' "$work/home/sources.list"
check 'with the C library that its hwloc needs' grep --quiet ' libc6 ' "$cache/riscv64/complete"

fetch vax
check 'an unknown architecture is an error' says "'vax' is no architecture"
check 'and has no directory' is_missing "$cache/vax"
fetch --other
check 'an unknown option is an error' says "unknown option '--other'"

finish
