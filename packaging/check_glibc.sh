#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   check_glibc.sh VERSION DIRECTORY
#
# Whether every ELF file below the directory runs with glibc VERSION, such as 2.34. Prints each
# symbol that needs a newer one, and at the end how many files were looked at. Exit status: 0 all
# do, 1 one does not, 2 wrong arguments or no ELF file.

set -euo pipefail
export LC_ALL=C
if [[ $# != 2 || ! $1 =~ ^2\.[0-9]+$ || ! -d $2 ]]; then
  printf 'usage: check_glibc.sh 2.NN DIRECTORY\n' >&2
  exit 2
fi
allowed=${1#2.} num_files=0 num_newer=0

while IFS= read -r -d '' file; do
  [[ $(head --bytes=4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
  num_files=$((num_files + 1))
  while read -r minor symbol; do
    ((minor > allowed)) || continue
    num_newer=$((num_newer + 1))
    printf '%s needs glibc 2.%s for %s\n' "$file" "$minor" "$symbol"
  done < <(objdump -T "$file" | sed -nE 's/.*\*UND\*.*GLIBC_2\.([0-9]+)[.0-9]*\)? +(.*)/\1 \2/p')
done < <(find "$2" -type f -print0)

((num_files)) || { printf 'check_glibc.sh: there is no ELF file below %s\n' "$2" >&2 && exit 2; }
printf '%d files\n' "$num_files"
((num_newer == 0))
