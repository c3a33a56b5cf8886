#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   names_test.sh PROGRAM FRONT
#
# FRONT, libhierbar_mpi_any.so, has the functions of all families, but PROGRAM, asks_for_names.c,
# finds only those that its MPI library has.
set -eu
without=$("$1" 2>/dev/null)
with=$(LD_PRELOAD=$2 "$1" 2>/dev/null)
grep -q '^MPI_Barrier of all files: yes' <<<"$without" || { echo "FAILED: $without" && exit 1; }
[[ $with == "$without" ]] || { echo "FAILED: without: $without, with: $with" && exit 1; }
