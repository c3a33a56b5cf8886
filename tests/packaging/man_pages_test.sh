#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   man_pages_test.sh BUILD_DIR SOURCE_DIR
#
# Whether each command has a man page without a fault, and hierbar(7) each variable that the sources
# read.

source "$(dirname "$0")/../cmake/check.sh"
build_dir=$1 source_dir=$2
pages=$build_dir/share/man

# Internal: what hides hwloc's variables. The others are for those who build.
internal='HIERBAR_MASKED HIERBAR_CMAKE_OPTIONS HIERBAR_OFFLINE HIERBAR_SOURCES'
read_variables=$(grep --recursive --no-filename --only-matching --extended-regexp \
  '"HIERBAR_[A-Z_]+' --include=*.{c,h,cpp,hpp} "$source_dir"/{runtime,mpi,ompt-tools} |
  tr -d '"' | sort --unique |
  grep --invert-match --word-regexp --fixed-strings "${internal// /$'\n'}")
described=$(grep --only-matching --extended-regexp '^\.B HIERBAR_[A-Z_]+' "$pages/man7/hierbar.7" |
  cut -d' ' -f2 | sort)
check 'hierbar(7) has the variables that are read, and no other' \
  same_text "$described" "$read_variables"

if [[ -d $pages/man1 ]]; then
  names=$("$build_dir/bin/hierbar" --help |
    awk '/^Subcommands:/ { inside = 1; next } inside && /^  [a-z]/ { print "hierbar-" $1 ".1" }')
  check 'each command has a page, and no other' \
    same_text "$(ls "$pages/man1")" "$(sort <<<"hierbar.1"$'\n'"$names")"
fi
if command -v man >/dev/null; then
  for page in "$pages"/man?/*; do
    run env MANROFFOPT=-ww man --warnings --local-file --encoding=utf8 "$page"
    check "$page is a page" says NAME
    check "$page has no fault" same_text "$(grep --count 'warning:' "$work/output")" 0
  done
  run man --local-file "$pages/man1/hierbar-topo.1"
  check 'a page has the options' says '--topology XML|DESCRIPTION'
  check 'and the examples as lines' says 'hierbar topo --topology node17.xml --json'
fi

finish
