#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make_sources.sh DIRECTORY
#
# Puts what the EasyBuild recipe needs under the directory, to be named as --sourcepath: the files
# of this working tree that git knows, as an archive, and LLVM's archive out of HIERBAR_SOURCES or
# of the cache.

set -euo pipefail
out=$(realpath --canonicalize-missing "${1?usage: make_sources.sh DIRECTORY}")/h/hierbar
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(sed -nE 's/^project\(hierbar VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
llvm=$(awk '/^[0-9]/ { print $3 "_" $1 ".orig.tar.xz"; exit }' cmake/llvm_versions.txt)
mkdir -p "$out"
git ls-files -z | tar --create --xz --null --files-from=- --transform="s,^,hierbar-$version/," \
  --file="$out/hierbar-$version.tar.xz"
ln -sf "${HIERBAR_SOURCES:-${XDG_CACHE_HOME:-$HOME/.cache}/hierbar/sources}/$llvm" "$out/"
