#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   trace_cost_test.sh OBJDUMP OBJECT_FILE
#
# An untraced barrier reads no clock and has nothing of the trace; the traced one is the same code and the stamps.

source "$(dirname "$0")/../cmake/check.sh"
objdump=$1 object=$2

instructions_of() { "$objdump" --disassemble="$1" --no-show-raw-insn "$object" | grep -E '^ +[0-9a-f]+:'; }
count_clocks() { instructions_of "$1" | grep -cE 'rdtsc|cntvct' || true; }

untraced=$(instructions_of cross_untraced | wc -l)
traced=$(instructions_of cross_traced | wc -l)
printf 'untraced: %d instructions, traced: %d\n' "$untraced" "$traced"
is_true() { (($1)); }
check 'the functions are found' is_true "$untraced > 20 && $traced > 20"
check 'the untraced barrier reads no clock' is_true "$(count_clocks cross_untraced) == 0"
check 'the traced one reads it at each of the three points' is_true "$(count_clocks cross_traced) >= 3"
check 'and has little more beside: what it takes to keep three stamps' is_true "$traced - untraced <= 60"

finish
