#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   untraced_test.sh OBJDUMP LIBOMP
#
# Without a tool a barrier of libomp.so executes no instruction for the trace: its function reads
# neither a clock nor the switch. Only the function that serves barriers which a tool looks at does.

source "$(dirname "$0")/../cmake/check.sh"
objdump=$1 libomp=$2

"$objdump" --disassemble --no-show-raw-insn "$libomp" >"$work/all"
# body REGEX: the instructions of the functions whose mangled names match. The compiler may keep a
# crossing in one of its own.
body() { awk -v name="$1" '/^[0-9a-f]+ </ { inside = $0 ~ name } inside && /^ / { print }' \
  "$work/all"; }
count() { grep -cE "$1" || true; }
is_true() { (($1)); }
untraced='__kmp_hierbar_unobserved_barrier|cross.*kmp_hierbar_untraced_t'
observed='__kmp_hierbar_(stamped|reported)_barrier|run_traced_exchange|cross.*kmp_hierbar_traced_t'

num_untraced=$(body "$untraced" | wc -l)
num_observed=$(body "$observed" | wc -l)
printf 'untraced: %d instructions, when a tool looks on: %d\n' "$num_untraced" "$num_observed"
check 'both functions are found' is_true "$num_untraced > 50 && $num_observed > 50"
check 'the untraced one reads no clock' is_true "$(body "$untraced" | count 'rdtsc|cntvct') == 0"
check 'nor anything of the trace' is_true \
  "$(body "$untraced" | count '__kmp_hierbar_(traced|trace_clock|next_phases|observer)') == 0"
check 'the observed one reads the clock at each point' is_true \
  "$(body "$observed" | count 'rdtsc|cntvct') >= 3"
check 'and the switch' is_true "$(body "$observed" | count '__kmp_hierbar_traced>') >= 1"

finish
