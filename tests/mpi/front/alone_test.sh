#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   alone_test.sh FRONT SHIM PROGRAM RUNNER...
#
# FRONT is libhierbar_mpi_any.so, SHIM the name of the target that it needs for PROGRAM, RUNNER the
# start of a command line of run_mpi_test.py. Where the shim's file is missing, or of another
# version, one line says so, and every barrier is the library's.
set -eu
front=$1 shim=lib$2.so program=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$front" "$work"
front=$work/$(basename "$front")
try() { # LINE
  "$@" --shim "$front" --count engine==0 --expect "$line" -- "$program" duplicates 20
}
line="uses .*, but its shim cannot be loaded: .*/${shim//./\\.}: .*; libhierbar_mpi_any\.so does nothing here"
try "$@"
: >"$work/empty.c"
cc -shared -fPIC "$work/empty.c" -o "$work/$shim"
line="uses .*, but .*/${shim//./\\.} is of another version; libhierbar_mpi_any\.so does nothing here"
try "$@"
