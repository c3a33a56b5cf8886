#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two hosts on one machine: two network namespaces with host names of their own, joined by a pair of
# virtual devices, in which mpiexec starts ranks that talk TCP. What the shim takes for a node is
# what shares memory, whatever the names and networks say. Arguments: mpiexec, the shim, the
# programs of ranks and of teams. Needs root. Nothing leaves these namespaces, and nothing of them
# is left.
set -u
mpiexec=$1 shim=$2 program=$3 teams=$4
readonly rounds=600  # far more than the packets that MPI sends besides, up to 260
left=hierbar-$$-a right=hierbar-$$-b
left_address=192.0.2.1 right_address=192.0.2.2  # for documentation: nobody's
work=$(mktemp -d)
status=0

# wait_until SECONDS COMMAND...
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return
    sleep 0.05
  done
}
tear_down() {
  for side in "$left" "$right"; do
    ip netns pids "$side" 2>/dev/null | xargs --no-run-if-empty kill -KILL
  done
  ip netns delete "$left" 2>/dev/null
  ip netns delete "$right" 2>/dev/null
  rm -rf "$work"
}
trap tear_down EXIT
trap 'exit 1' INT TERM

skip() {
  echo "skipped: $1"
  exit 77
}
((EUID == 0)) || skip 'network namespaces need root'
command -v ip >/dev/null || skip 'no ip here (Debian: iproute2)'
ip netns add "$left" 2>/dev/null && ip netns add "$right" 2>/dev/null ||
  skip 'no network namespaces here'
# The device is gone with the namespace that has it.
ip -n "$left" link add net0 type veth peer name net0 netns "$right" 2>/dev/null ||
  skip 'no pairs of virtual devices here'
for side in left right; do
  address=${side}_address
  ip -n "${!side}" link set lo up
  ip -n "${!side}" address add "${!address}/30" dev net0
  ip -n "${!side}" link set net0 up
done
# The kernel takes up to a second to notice that both ends are there, and UCX wants to see that.
is_up() { ip -n "$1" -oneline link show net0 | grep --quiet 'state UP'; }
both_are_up() { is_up "$left" && is_up "$right"; }
wait_until 10 both_are_up

# write_enter KIND: a script `enter ADDRESS COMMAND...` that brings a command to a host, in place of
# ssh. What the host has of its own:
#   network   network, host name, and System V memory, by which UCX's ranks of one host talk: all
#             ranks are on one node
#   mounts    also the mounts, with the same /dev/shm: one node, as with a container for each rank
#   memory    also /dev/shm, but the host names are the same: two nodes
write_enter() {
  local spaces='--uts --ipc' prepare='hostname host-$host'
  [[ $1 == network ]] || spaces+=' --mount'
  [[ $1 == memory ]] && prepare='hostname twin \&\& mount -t tmpfs -o size=8m tmpfs /dev/shm'
  sed -e "s|LEFT_ADDRESS|$left_address|; s|LEFT|$left|; s|RIGHT|$right|; s|SPACES|$spaces|; s|PREPARE|$prepare|" >"$work/enter" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done  # options for ssh
export host=$1
shift
namespace=RIGHT
[ "$host" = LEFT_ADDRESS ] && namespace=LEFT
exec nsenter --net="/run/netns/$namespace" unshare SPACES sh -c "PREPARE && exec $*"
END
  chmod +x "$work/enter"
}

packets() { ip netns exec "$right" cat /sys/class/net/net0/statistics/rx_packets; }

has_ended() { ! kill -0 "$mpi" 2>/dev/null; }
has_reported() { says 'barriers of 4 ranks: ' || has_ended; }

# run KIND COMMAND...: two ranks on each host; sets $sent, the packets that went from the left to
# the right.
run() {
  write_enter "$1"
  shift
  local before
  before=$(packets)
  : >"$work/output"
  # `ip netns exec` mounts a /sys with this network's devices, without which UCX does not find them.
  ip netns exec "$left" "$work/enter" "$left_address" "$mpiexec" -iface net0 -launcher ssh \
    -launcher-exec "$work/enter" \
    -hosts "$left_address,$right_address" -ppn 2 -n 4 -genv UCX_TLS tcp,sysv,self \
    -genv UCX_NET_DEVICES net0 \
    -genv HIERBAR_VERBOSE 1 -genv LD_PRELOAD "$shim" "$@" >"$work/output" 2>&1 &
  mpi=$!
  wait_until 60 has_reported
  # MPICH 4.0.2 on UCX's TCP often does not come back from MPI_Finalize, with and without the shim.
  wait_until 3 has_ended
  kill -TERM $mpi 2>/dev/null
  wait_until 10 has_ended || kill -KILL $mpi
  wait $mpi 2>/dev/null
  sent=$(($(packets) - before))
}

check() { # WHAT COMMAND...
  local what=$1
  shift
  "$@" && return
  status=1
  printf 'FAILED: %s\n' "$what"
}
# says TEXT [TIMES]; lines of several ranks may be mixed.
says() {
  [[ $(grep --only-matching --extended-regexp "$1" "$work/output" | wc --lines) == "${2:-1}" ]]
}
says_nothing() { ! grep --quiet "$1" "$work/output"; }

# check_meetings KIND: where each host is a node, the leaders meet in every barrier, and only there.
check_meetings() {
  if [[ $1 != memory ]]; then
    check "$1: the leaders do not meet on the network" [ "$sent" -lt $rounds ]
  else
    check "$1: the leaders meet on the network, every time" [ "$sent" -ge $rounds ]
  fi
}
end_if_failed() {
  ((status == 0)) && return
  printf '%d packets\n' "$sent"
  cat "$work/output"
  exit $status
}

for kind in network mounts memory; do
  nodes_ranks=2
  [[ $kind != memory ]] && nodes_ranks=4
  run $kind "$program" apart $rounds "$work/board"
  check "$kind: the barriers are right, in all ranks" says 'all rounds were right' 4
  check "$kind: ranks on the first one's node" \
    says "first communicator: 4 ranks, $nodes_ranks of them on this node"
  check "$kind: the engine serves them all" \
    says "barriers of 4 ranks: engine $((4 * rounds)), library 0"
  check "$kind: no complaint" says_nothing 'is used instead'
  check_meetings $kind
  end_if_failed
done

# All threads of all ranks: 2 + 1 on each host. The oracle's words are in a file that all can open.
for kind in network memory; do
  nodes=2
  [[ $kind == network ]] && nodes=1
  run $kind "$teams" oracle multiple 2,1 $rounds "$work/words-$kind"
  check "$kind, team: the barriers are right" says 'all rounds were right'
  check "$kind, team: threads of a node" \
    says "team of $((6 / nodes)) threads in $((4 / nodes)) ranks on this node" $nodes
  check "$kind, team: the engine serves them all" \
    says "barriers of 4 ranks: engine $((4 * rounds)), library 0"
  check_meetings "$kind"
  end_if_failed
done
