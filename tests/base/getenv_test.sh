#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is loaded into programs reads no environment variable but by trusted_variable(), so that none
# counts in a program with more rights than its user. Argument: the project's directory.
set -u
cd "$1" || exit 1
# The function itself, the hiding of variables from hwloc, and the search for misspelt names, which
# reads none in such a program.
allowed=(runtime/base/trusted_variable.hpp runtime/base/variables.cpp
         runtime/topology/hwloc_guards.cpp)
names='\b(getenv|secure_getenv|environ|__environ)\b'

mapfile -t sources < <(find runtime mpi ompt-tools \
  -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp')
((${#sources[@]} > 100)) || {
  echo "only ${#sources[@]} sources here: are they elsewhere?"
  exit 1
}
# Comments may speak of it, and texts of /proc/<pid>/environ.
found=$(grep --with-filename --line-number --extended-regexp "$names" "${sources[@]}" |
  sed --regexp-extended -e 's|//.*||' -e 's|"[^"]*"||g' | grep --extended-regexp ":[0-9]+:.*$names")
for file in "${allowed[@]}"; do
  grep --quiet "^$file:" <<<"$found" || {
    echo "$file no longer needs to be excepted here"
    exit 1
  }
  found=$(grep --invert-match "^$file:" <<<"$found")
done
[[ -z $found ]] || {
  printf 'reads the environment without trusted_variable():\n%s\n' "$found"
  exit 1
}
