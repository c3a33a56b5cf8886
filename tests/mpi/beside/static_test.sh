#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   static_test.sh CC SHIM HIERBAR
#
# A program into which MPICH itself is linked. With the shim preloaded it runs as it is. With the
# shim linked before the library it cannot run: the linker takes MPI_Barrier from the shim and
# leaves the library's out. It says so, and does not go on with barriers that synchronise nobody.

set -eu
cc=$1 shim=$2 hierbar=$3
sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$("$cc" -print-file-name=libmpich.a)
if [[ $archive != /* ]]; then
  echo 'skipped: there is no libmpich.a (libmpich-dev)'
  exit 77
fi

fail() {
  cat "$work/output"
  echo "FAILED: $1"
  exit 1
}
build() { "$cc" -O2 -static-mpi "$sources/parts.c" -o "$work/$1" "${@:2}"; }

build alone
LD_PRELOAD=$shim "$work/alone" >"$work/output" 2>&1 || fail 'preloaded: the program fails'

build linked -L"$(dirname "$shim")" -lhierbar_mpi -Wl,-rpath,"$(dirname "$shim")"
! "$work/linked" >"$work/output" 2>&1 || fail 'linked: the program goes on without barriers'
grep -q 'which only libhierbar_mpi.so defines, so the program is ended' \
  "$work/output" || fail 'linked: no message'
(($(grep -c 'link the shared library' "$work/output") == 1)) || fail 'linked: several messages'

for program in alone linked; do
  ! "$hierbar" doctor -- "$work/$program" >"$work/output" 2>&1 ||
    fail "doctor: nothing found in $program"
  grep -q static-runtime "$work/output" || fail "doctor: $program"
done
