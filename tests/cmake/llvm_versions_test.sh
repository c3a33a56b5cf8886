#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests that the versions of llvm_versions.txt are complete, that each says which patches for LLVM it
# takes, and how HIERBAR_LLVM_VERSION is checked.

source "$(dirname "$0")/check.sh"
cmake_dir=$1
patches=$cmake_dir/../runtime/libomp/patches
upstream=$cmake_dir/../runtime/libomp/upstream

is_sha256() { [[ $1 =~ ^[0-9a-f]{64}$ ]]; }
names_in() { sed --regexp-extended --quiet 's/^(# )?([^ :]+\.patch)(: .+)?$/\2/p' "$1"; }
has_patches() { compgen -G "$patches/$1/*.patch" >/dev/null; }

known=()
while read -r version upstream_sha256 package debian_sha256 suites; do
  known+=("$version")
  check "LLVM's checksum of $version" is_sha256 "$upstream_sha256"
  check "Debian's checksum of $version" is_sha256 "$debian_sha256"
  check "Debian's package of $version" same_text "$package" "llvm-toolchain-${version%%.*}"
  check "the suites of $version" test -n "$suites"
  check "the patches of $version" has_patches "$version"
  check "each patch for LLVM is taken for $version, or left out with a reason" \
    same_text "$(names_in "$patches/$version/upstream.txt")" "$(cd "$upstream" && printf '%s\n' *.patch)"
done < <(grep -v '^#' "$cmake_dir/llvm_versions.txt")
check "the default takes all" same_text "$(grep --count '^[^#]' "$patches/${known[0]}/upstream.txt")" "$(ls "$upstream" | grep --count '\.patch$')"
check 'each directory of patches is of a known version' \
  same_text "$(ls "$patches" | sort)" "$(printf '%s\n' "${known[@]}" | sort)"

printf 'cmake_minimum_required(VERSION 3.25)\ninclude(%s)\n' "$cmake_dir/FetchOpenMP.cmake" >"$work/choose.cmake"
choose() { run cmake "$@" -P "$work/choose.cmake"; }
choose
check 'there is a default' succeeded
for version in "${known[@]}"; do
  choose -DHIERBAR_LLVM_VERSION="$version"
  check "$version is accepted" succeeded
done
choose -DHIERBAR_LLVM_VERSION=7.0.0
check 'another version is an error' same_text "$status" 1
# cmake breaks its messages into lines.
tr --squeeze-repeats '\n ' ' ' <"$work/output" >"$work/one-line" && mv "$work/one-line" "$work/output"
check 'that names the variable, its value and what is allowed' \
  says "HIERBAR_LLVM_VERSION='7.0.0' is not one of $(printf '%s, ' "${known[@]}" | sed 's/, $//')"
check 'and the default' says "Without a value it is ${known[0]}."

finish
