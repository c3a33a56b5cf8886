#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fetch_kernel.sh [DIRECTORY]: downloads Debian's kernel package and busybox-static, and unpacks
# what run_in_guest needs of them.
#
# Nothing is installed: a kernel package would put itself into the boot menu of this machine, and
# busybox-static replaces busybox. Needs apt-get and dpkg-deb, and no root. DIRECTORY is where
# run_in_guest looks, ${XDG_CACHE_HOME:-~/.cache}/hierbar/guest; when it is complete, nothing is
# done.

set -euo pipefail

usage() { sed -n '5,/^$/s/^# \{0,1\}//p' "$0"; }

case ${1:-} in
  -h | --help) usage && exit 0 ;;
  -*) printf "fetch_kernel.sh: unknown option '%s'\n" "$1" >&2 && exit 2 ;;
esac
directory=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/guest}

[[ -e $directory/complete ]] && exit 0
for tool in apt-get apt-cache dpkg-deb; do
  command -v "$tool" >/dev/null ||
    { printf 'fetch_kernel.sh: no %s here: no kernel for the guest\n' "$tool" >&2 && exit 1; }
done

mkdir -p "$directory"
partial=$(mktemp -d "$directory/partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT

# The package of the architecture's kernel only names the package of the newest one.
kernel=$(apt-cache depends --important linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[[ $kernel ]] || { printf 'fetch_kernel.sh: apt knows no linux-image-amd64 (apt-get update?)\n' \
  >&2 && exit 1; }

# By default apt downloads as a user who may not write here. That user protects root, who is not
# needed here.
(cd "$partial" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$kernel" busybox-static)
for package in "$partial"/*.deb; do
  # All modules of the kernel would be 400 MB.
  dpkg-deb --fsys-tarfile "$package" | tar --extract --directory "$partial" --wildcards \
    --no-wildcards-match-slash \
    './boot/vmlinuz-*' './bin/busybox' './lib/modules/*/kernel/drivers/virtio' \
    './lib/modules/*/kernel/net/9p' \
    './lib/modules/*/kernel/fs/9p' './lib/modules/*/kernel/fs/netfs' \
    './lib/modules/*/kernel/fs/fscache' \
    './lib/modules/*/kernel/fs/overlayfs' 2>/dev/null || true # each package has some of them
done
rm -rf "$directory/boot" "$directory/lib" "$directory/bin"
mv "$partial/boot" "$partial/lib" "$partial/bin" "$directory"
touch "$directory/complete"
