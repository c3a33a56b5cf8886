#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ranks whose /dev/shm is full, gets full, is read-only, or not the same: the program is right all the same, and one rank says why the engine
# is not used. Arguments: mpiexec, the shim, the program. Needs mount namespaces, as root or through a user namespace.
set -u
mpiexec=$1
program=(env HIERBAR_VERBOSE=1 "LD_PRELOAD=$2" "$3")
# The MPI libraries themselves must do without /dev/shm.
export UCX_TLS=tcp,self
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0

unshare=(unshare --mount)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --user --map-root-user --mount)
if ! "${unshare[@]}" mount -t tmpfs -o size=64k tmpfs /dev/shm 2>/dev/null; then
  echo 'no mount namespaces here'
  exit 77
fi

# run MOUNT_OPTIONS RANKS ARGUMENT...: a program whose ranks all see another /dev/shm.
run() {
  local options=$1 ranks=$2
  shift 2
  timeout 60 "${unshare[@]}" sh -c "mount -t tmpfs -o $options tmpfs /dev/shm && exec \"\$@\"" sh \
    "$mpiexec" -n "$ranks" "${program[@]}" "$@" >"$output" 2>&1
}

check() { # WHAT COMMAND...
  local what=$1
  shift
  "$@" && return
  status=1
  printf 'FAILED: %s\n' "$what"
  cat "$output"
}
says() { [[ $(grep --count --extended-regexp "$1" "$output") == "$2" ]]; }

run size=256k 2 full
check 'a full /dev/shm: the program is right' [ $? = 0 ]
check 'a full /dev/shm: one message' says "cannot (allocate|create) /dev/shm/.*: No space left on device; the MPI library's own barrier is used" 1
check 'a full /dev/shm: no barrier by the engine' says 'engine 0, library 20 ' 2

run size=32k 2 many 100
check '/dev/shm gets full: the program is right' [ $? = 0 ]
check '/dev/shm gets full: one message' says "no (shared )?memory is left .*; the MPI library's own barrier is used" 1
check '/dev/shm gets full: the first barriers by the engine' says 'engine [1-9][0-9]*, library [1-9]' 2

run ro 2 duplicates 10
check 'a read-only /dev/shm: the program is right' [ $? = 0 ]
check 'a read-only /dev/shm: one message' says "cannot create /dev/shm/.*: Read-only file system; the MPI library's own barrier is used" 1

timeout 60 "$mpiexec" -n 2 "${program[@]}" duplicates 10 : -n 2 "${unshare[@]}" "${program[@]}" duplicates 10 >"$output" 2>&1
check 'two mount namespaces: the program is right' [ $? = 0 ]
check 'two mount namespaces are two nodes' says 'first communicator: 4 ranks, 2 of them on this node' 1
check 'two mount namespaces: all barriers by the engine' says 'engine 20, library 0' 4
exit $status
