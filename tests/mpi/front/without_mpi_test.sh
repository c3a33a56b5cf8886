#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   without_mpi_test.sh FRONT EXPORTS READELF NM OBJDUMP
#
# FRONT is libhierbar_mpi_any.so, EXPORTS the list of the shims' exports. It has all their entry
# points, each of which is one jump, and needs no MPI library and no file of hierbar's. A process
# without MPI gets no other file of hierbar's, and no hwloc.
set -eu
front=$1 exports=$2 readelf=$3 nm=$4 objdump=$5

fail() {
  echo "FAILED: $1"
  exit 1
}

wanted=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_0-9]*\);$/\1/p' "$exports" |
  grep -v '^hierbar_mpi_stand_behind$' | LC_ALL=C sort)
[[ $("$nm" -D --defined-only "$front" | awk '{ print $NF }' | LC_ALL=C sort) == "$wanted" ]] ||
  fail 'it exports other names than the shims'
! "$readelf" -d "$front" | grep -E 'NEEDED.*(mpi|hierbar|libstdc\+\+|hwloc)' ||
  fail 'it needs other libraries than the C library'
! "$readelf" -d "$front" | grep -E 'R(UN)?PATH' || fail 'the loader looks for those beside it'

# Behind the mark for indirect jumps it is one instruction, or on AArch64 the load of its target.
case $(uname -m) in
  x86_64) line=3 jump='jmp +\*0x' ;;
  *) line=6 jump='br\s+x16' ;;
esac
"$objdump" -d --no-show-raw-insn "$front" | sed -n '/<MPI_Barrier>:/,/^$/p' | sed -n "${line}p" |
  grep -E "$jump" || fail 'MPI_Barrier is more than a jump'

maps=$(LD_PRELOAD=$front cat /proc/self/maps)
grep -q "$(basename "$front")" <<<"$maps" || fail 'it is not in the process'
! grep -E 'hwloc|libhierbar(_mpi|_mpi_ompi|_mpi_abi|_ompt)?\.so' <<<"$maps" ||
  fail 'a process without MPI has more of hierbar'
! LD_PRELOAD=$front sh -c true 2>&1 | grep . || fail 'a process without MPI hears of it'
