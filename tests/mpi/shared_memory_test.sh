#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ranks whose /dev/shm is full, gets full, is tiny, read-only, or not the same, on all nodes or on
# one: the program is right all the same, and one rank says why the engine is not used. Arguments:
# mpiexec, the shim, the program. Needs mount namespaces, as root or through a user namespace.
set -u
mpiexec=$1
program=(env HIERBAR_VERBOSE=1 HIERBAR_MPI_SET_UP_AT=1 "LD_PRELOAD=$2" "$3")
# The MPI libraries themselves must do without /dev/shm.
export UCX_TLS=tcp,self UCX_NET_DEVICES=lo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo \
  OMPI_MCA_oob_tcp_if_include=lo
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0

unshare=(unshare --mount)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --user --map-root-user --mount)
if ! "${unshare[@]}" mount -t tmpfs -o size=64k tmpfs /dev/shm 2>/dev/null; then
  echo 'skipped: no mount namespaces here'
  exit 77
fi

# run MOUNT_OPTIONS RANKS ARGUMENT...: a program whose ranks all see another /dev/shm.
run() {
  local options=$1 ranks=$2
  shift 2
  local ended=0
  timeout 60 "${unshare[@]}" sh -c "mount -t tmpfs -o $options tmpfs /dev/shm && exec \"\$@\"" sh \
    "$mpiexec" -n "$ranks" "${program[@]}" "$@" >"$output" 2>&1 || ended=$?
  # On UCX's TCP, MPICH 4.0.2 now and then does not come back from MPI_Finalize.
  ((ended != 124)) || says '^hierbar: mpi: barriers of [^:]*: ' "$ranks" || return 1
  ((ended == 0 || ended == 124))
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
check 'a full /dev/shm: one message' \
  says "cannot (allocate|create) /dev/shm/.*: No space left on device; the MPI library's own barrier is used" 1
check 'a full /dev/shm: no barrier by the engine' says 'engine 0, library 20 ' 2

run size=32k 2 many 100
check '/dev/shm gets full: the program is right' [ $? = 0 ]
check '/dev/shm gets full: one message' \
  says "no (shared )?memory is left .*; the MPI library's own barrier is used" 1
check '/dev/shm gets full: the first barriers by the engine' \
  says 'engine [1-9][0-9]*, library [1-9]' 2

run ro 2 duplicates 10
check 'a read-only /dev/shm: the program is right' [ $? = 0 ]
check 'a read-only /dev/shm: one message' \
  says "cannot create /dev/shm/.*: Read-only file system; the MPI library's own barrier is used" 1

# MPICH does not survive less than this, except when it believes that every rank has a host of its
# own.
export MPIR_CVAR_NOLOCAL=1
run size=4k 2 duplicates 10
check 'a tiny /dev/shm: the program is right' [ $? = 0 ]
check 'a tiny /dev/shm: one message' \
  says "no shared memory is left .* or the size of /dev/shm.; the MPI library's own barrier is used" 1
check 'a tiny /dev/shm: no barrier by the engine' says 'engine 0, library 20 ' 2
unset MPIR_CVAR_NOLOCAL

# run_apart COMMAND...: two ranks as they are, and two that the command starts.
run_apart() {
  UCX_TLS=sysv,self timeout 60 "$mpiexec" -n 2 "${program[@]}" duplicates 10 : -n 2 "$@" \
    "${program[@]}" duplicates 10 >"$output" 2>&1
}

# check_node RANKS OPTION...: each of the two has namespaces of its own. So many of the four ranks
# are on the first one's node, whatever UCX and the host's name say.
check_node() {
  local ranks=$1
  shift
  local kind="$*" options=("$@")
  unshare "${options[@]}" true 2>/dev/null || options=(--user --map-root-user "${options[@]}")
  run_apart unshare "${options[@]}"
  check "unshare $kind: the program is right" [ $? = 0 ]
  check "unshare $kind: $ranks ranks on one node" \
    says "first communicator: 4 ranks, $ranks of them on this node" 1
  check "unshare $kind: all barriers by the engine" says 'engine 20, library 0' 4
}
# As containers for each rank, with and without privileges.
check_node 4 --mount
check_node 4 --mount --user --map-root-user
check_node 2 --pid --fork

# One node has a segment and the other cannot: all of them agree.
if ((EUID != 0)); then
  echo 'not root: no test of two nodes of which one has no memory'
  exit $status
fi
coproc holder {
  exec unshare --mount sh -c 'mount -t tmpfs -o ro tmpfs /dev/shm && echo ready && read -r _'
}
read -r -u "${holder[0]}" _
MPIR_CVAR_NOLOCAL=1 run_apart nsenter --mount="/proc/$holder_PID/ns/mnt"
check 'one node cannot write to /dev/shm: the program is right' [ $? = 0 ]
check 'one node cannot write to /dev/shm: one message' \
  says "cannot create /dev/shm/.*: Read-only file system; the MPI library's own barrier is used" 1
check 'one node cannot write to /dev/shm: no barrier by the engine' \
  says 'engine 0, library 20 .no segment 20.' 4
kill "$holder_PID"
exit $status
