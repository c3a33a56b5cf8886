#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   trace_cost_test.sh OBJDUMP OBJECT_FILE
#
# An untraced barrier reads no clock and has nothing of the trace; the traced one is the same code
# and the stamps.

source "$(dirname "$0")/../cmake/check.sh"
objdump=$1 object=$2

"$objdump" --disassemble --no-show-raw-insn "$object" >"$work/all"
# The instructions of the functions whose mangled names match: the paths of a barrier are in
# functions of their own.
instructions_of() {
  awk -v name="$1" '/^[0-9a-f]+ </ { inside = $0 ~ name }
    inside && /^ +[0-9a-f]+:/ { print }' "$work/all"
}
count_clocks() { instructions_of "$1" | grep -cE 'rdtsc|cntvct' || true; }

of_untraced='cross_untraced|cross_(tree|oversubscribed).*NoTrace'
of_traced='cross_traced|cross_(tree|oversubscribed).*Stamps'
untraced=$(instructions_of "$of_untraced" | wc -l)
traced=$(instructions_of "$of_traced" | wc -l)
printf 'untraced: %d instructions, traced: %d\n' "$untraced" "$traced"
is_true() { (($1)); }
check 'the functions are found' is_true "$untraced > 200 && $traced > 200"
check 'the untraced barrier reads no clock' is_true "$(count_clocks "$of_untraced") == 0"
check 'the traced one reads it at each of the three points' \
  is_true "$(count_clocks "$of_traced") >= 3"
check 'and has little more beside: what it takes to keep three stamps' \
  is_true "$traced - untraced <= 60"

finish
