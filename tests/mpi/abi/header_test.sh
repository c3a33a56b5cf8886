#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   header_test.sh CC OURS THEIRS
#
# Whether mpi/abi/mpi.h (OURS) says the same as an MPI library's header of the standard ABI
# (THEIRS): the value of each constant, the layout of each type, and the parameters of each
# function. Each header is in a translation unit of its own.
set -eu
cc=$1 ours=$2 theirs=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mapfile -t constants < <(sed -n 's/^#define \(MPI_[A-Z0-9_]*\) .*/\1/p' "$ours")
((${#constants[@]} > 100)) || { echo "only ${#constants[@]} constants in $ours" && exit 1; }

{
  echo '#include <stddef.h>'
  echo '#include <stdint.h>'
  echo '#include HEADER'
  echo 'const struct { const char *what; long long value; } TABLE[] = {'
  for name in "${constants[@]}"; do
    printf '  {"%s", (long long)(intptr_t)(%s)},\n' "$name" "$name"
  done
  for type in Aint Offset Count Status Comm Datatype Op Request Group Info Errhandler Session; do
    printf '  {"sizeof(MPI_%s)", sizeof(MPI_%s)},\n' $type $type
  done
  for member in MPI_SOURCE MPI_TAG MPI_ERROR; do
    printf '  {"place of %s", offsetof(MPI_Status, %s)},\n' $member $member
  done
  echo '  {0, 0}};'
} >"$work/table.c"
cat >"$work/main.c" <<'END'
#include <stdio.h>
struct row { const char *what; long long value; };
extern const struct row ours[], theirs[];
int main(void) {
  int num = 0, wrong = 0;
  for (; ours[num].what; ++num) {
    if (ours[num].value == theirs[num].value) continue;
    printf("%s: %#llx here, %#llx there\n", ours[num].what, ours[num].value, theirs[num].value);
    ++wrong;
  }
  printf("%d values compared\n", num);
  return wrong != 0;
}
END
# The declarations of ours behind all of theirs: C refuses those that differ.
{
  echo '#include HEADER'
  sed -n '/^#define HIERBAR_MPI_DECLARE/,/^#undef HIERBAR_MPI_DECLARE/p' "$ours"
} >"$work/declarations.c"

"$cc" -c -DHEADER="\"$ours\"" -DTABLE=ours "$work/table.c" -o "$work/ours.o"
"$cc" -c -DHEADER="\"$theirs\"" -DTABLE=theirs "$work/table.c" -o "$work/theirs.o"
"$cc" "$work/main.c" "$work/ours.o" "$work/theirs.o" -o "$work/compare"
"$work/compare"
"$cc" -fsyntax-only -DHEADER="\"$theirs\"" "$work/declarations.c"
