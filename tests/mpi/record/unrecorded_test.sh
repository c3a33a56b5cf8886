#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   unrecorded_test.sh OBJDUMP SHIM
#
# Without HIERBAR_REPORT a barrier executes no instruction for the report: on its way it reads no
# clock and asks for no trace. Only the functions that recorded barriers go through do.

source "$(dirname "$0")/../../cmake/check.sh"
objdump=$1 shim=$2

"$objdump" --disassemble --no-show-raw-insn --demangle "$shim" >"$work/all"
# body REGEX: the instructions of the functions whose names match.
body() { awk -v name="$1" '/^[0-9a-f]+ </ { inside = $0 ~ name } inside && /^ / { print }' \
  "$work/all"; }
count() { grep -cE "$1" || true; }
is_true() { (($1)); }
unrecorded='<hierbar::mpi::(barrier|cross|HybridTeam::barrier)\(|cross_nodes<hierbar::NoTrace|NoTrace&'
recorded='<hierbar::mpi::(cross_recorded|HybridTeam::barrier_recorded)\(|<hierbar::mpi::CommTrace::open\(|cross_nodes<hierbar::mpi::RankTrace|RankTrace&'

num_unrecorded=$(body "$unrecorded" | wc -l)
num_recorded=$(body "$recorded" | wc -l)
printf 'unrecorded: %d instructions, recorded: %d\n' "$num_unrecorded" "$num_recorded"
check 'both are found' is_true "$num_unrecorded > 50 && $num_recorded > 50"
check 'the unrecorded ones read no clock' \
  is_true "$(body "$unrecorded" | count 'rdtsc|cntvct') == 0"
check 'nor anything of the trace' \
  is_true "$(body "$unrecorded" | count 'CommTrace|TeamTrace|Recorder|read_system_ns') == 0"
check 'the recorded ones read the clock at each point' \
  is_true "$(body "$recorded" | count 'rdtsc|cntvct') >= 4"

finish
