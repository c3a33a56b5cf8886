#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   listings_test.sh DOCUMENT
#
# What the document shows is what is compiled and run here: between `<!-- FILE: begin -->` and
# `<!-- FILE: end -->` it has the file without its licence, in a fence.

source "$(dirname "$0")/../cmake/check.sh"
document=$1

# Without the comment at the top and the empty line behind it.
code_of() { sed '1,/^$/d' "$(dirname "$0")/$(basename "$1")"; }
# Between the marks, without the fence and the empty lines beside them.
shown_in_document() {
  sed --quiet "\\|^<!-- $1: begin -->\$|,\\|^<!-- $1: end -->\$|p" "$document" |
    sed '1,3d' | head -n -3
}

for file in tests/examples/threads.c tests/examples/allreduce.c tests/examples/processes.cpp; do
  code_of "$file" >"$work/code"
  shown_in_document "$file" >"$work/shown"
  check "there is code in $file" test -s "$work/code"
  check "$document shows $file as it is" diff -u "$work/shown" "$work/code"
done
finish
