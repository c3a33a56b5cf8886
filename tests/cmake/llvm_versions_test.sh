#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests that the versions of llvm_versions.txt are complete, that what they leave out of the patches
# for LLVM is there and has a reason, that packages and pages name the default one, and how
# HIERBAR_LLVM_VERSION is checked.

source "$(dirname "$0")/check.sh"
cmake_dir=$1
patches=$cmake_dir/../runtime/libomp/patches

is_sha256() { [[ $1 =~ ^[0-9a-f]{64}$ ]]; }
is_known() { [[ " ${known[*]} " == *" $1 "* ]]; }
# Each line of a left-out.txt names a patch and gives a reason.
is_sound() {
  local line
  while read -r line; do
    [[ $line =~ ^([^ :]+\.patch):\ .+ && -e $patches/llvm-fixes/${BASH_REMATCH[1]} ]] || return 1
  done < <(grep -v '^#' "$1")
}

known=()
while read -r version upstream_sha256 package debian_sha256 suites; do
  known+=("$version")
  check "LLVM's checksum of $version" is_sha256 "$upstream_sha256"
  check "Debian's checksum of $version" is_sha256 "$debian_sha256"
  check "Debian's package of $version" same_text "$package" "llvm-toolchain-${version%%.*}"
  check "the suites of $version" test -n "$suites"
  left_out=$patches/versions/$version/left-out.txt
  if [[ -e $left_out ]]; then
    check "what $version leaves out of the patches for LLVM is there, with a reason" is_sound \
      "$left_out"
  fi
done < <(grep -v '^#' "$cmake_dir/llvm_versions.txt")
check 'the default leaves out none' test ! -e "$patches/versions/${known[0]}/left-out.txt"
# A version without a directory takes the one with the highest number below its own.
for directory in "$patches"/versions/*; do
  check "$directory is of a known version" is_known "${directory##*/}"
done
first=$(printf '%s\n' "${known[@]}" | sort --version-sort | head -n 1)
check 'the first version has a directory' test -d "$patches/versions/$first"

# What names the default version, or its archive.
root=$cmake_dir/..
read -r default upstream_sha256 package _ < <(grep '^[0-9]' "$cmake_dir/llvm_versions.txt")
names_default() { # FILE TEXT
  check "$1 names $2" grep -qF -- "$2" "$root/$1"
}
names_default CONTRIBUTING.md "is built from LLVM $default;"
names_default docs/contribute/build.md "LLVM $default's OpenMP runtime"
names_default docs/guide/openmp.md "the default is $default."
names_default packaging/spack/package.py "/llvm-project-$default.src.tar.xz\""
names_default packaging/spack/package.py "sha256=\"$upstream_sha256\""
for recipe in "$root"/packaging/easybuild/*.eb; do
  names_default "packaging/easybuild/${recipe##*/}" "'${package}_$default.orig.tar.xz'"
done

printf 'cmake_minimum_required(VERSION 3.25)\ninclude(%s)\n' "$cmake_dir/FetchOpenMP.cmake" \
  >"$work/choose.cmake"
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
tr --squeeze-repeats '\n ' ' ' <"$work/output" >"$work/one-line" &&
  mv "$work/one-line" "$work/output"
check 'that names the variable, its value and what is allowed' \
  says "HIERBAR_LLVM_VERSION='7.0.0' is not one of $(printf '%s, ' "${known[@]}" | sed 's/, $//')"
check 'and the default' says "Without a value it is ${known[0]}."

finish
