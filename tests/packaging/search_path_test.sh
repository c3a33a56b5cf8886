#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   search_path_test.sh BUILD
#
# No program or library of a build looks for libraries in a directory that depends on where a
# program is started. An empty element of a search path is the current directory, and CMake pads
# the search paths of a build tree with such elements.

source "$(dirname "$0")/../cmake/check.sh"
num_files=0
is_elf() { [[ -f $1 && $(head --bytes=4 "$1" | tr -d '\0') == $'\x7fELF' ]]; }
search_path() { readelf -d "$1" | sed -n 's/.*R\(UN\)\{0,1\}PATH.*\[\(.*\)\]/\2/p'; }
# Each element begins with a slash or with $ORIGIN.
is_absolute() { [[ :$1: != *:[!/$]* ]]; }

for file in "$1"/{bin,lib,lib/hierbar/preload,libexec/hierbar}/*; do
  is_elf "$file" || continue
  num_files=$((num_files + 1))
  path=$(search_path "$file")
  [[ -z $path ]] || check "the directories that $file searches are absolute" is_absolute "$path"
done
check 'there are programs and libraries' test "$num_files" -gt 0

finish
