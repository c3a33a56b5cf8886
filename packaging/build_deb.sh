#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   build_deb.sh DIRECTORY
#
# Builds hierbar, libhierbar0 and libhierbar-dev from the files of this working tree that git knows,
# and leaves them in the directory, with the source package. HIERBAR_SOURCES has LLVM's archive;
# without it the cache is looked at, and then the network. Needs debhelper and the build
# dependencies of packaging/debian/control.

set -euo pipefail
out=$(realpath --canonicalize-missing "${1?usage: build_deb.sh DIRECTORY}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -nE 's/^project\(hierbar VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
tree=$out/hierbar-$version

mkdir -p "$out"
rm -rf "$tree" "$out"/hierbar_* "$out"/libhierbar*
mkdir "$tree"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$tree"
tar --create --xz --directory="$out" --file="$out/hierbar_$version.orig.tar.xz" \
  --exclude="hierbar-$version/packaging/debian" \
  "hierbar-$version"
cp -R packaging/debian "$tree/debian"
rm -rf "$tree/packaging/debian"
export HIERBAR_SOURCES=${HIERBAR_SOURCES:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/sources}
cd "$tree"
dpkg-buildpackage --no-sign --build=full
rm -rf "$tree"
