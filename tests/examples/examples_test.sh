#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   examples_test.sh DIRECTORY_OF_PROGRAMS [EMULATOR...]
#
# The examples of docs/reference/api.md do what they say.

source "$(dirname "$0")/../cmake/check.sh"
directory=$1
shift

run "$@" "$directory/example_threads"
check 'the C example succeeds' succeeded
check 'after 1000 steps around a ring of four everything is where it was' \
  says 'after 1000 steps: 0 1 2 3'
run "$@" "$directory/example_allreduce"
check 'the C example of an allreduce succeeds' succeeded
check 'all of its threads stop after the same step' \
  says '46.8 degrees in the middle after 314 steps'
run "$@" "$directory/example_processes"
check 'the C++ example succeeds' succeeded
check 'it goes on until the one with the most work is done' says 'all done after 30 rounds'
finish
