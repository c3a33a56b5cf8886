#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set -euo pipefail

usage() {
  cat <<'END'
usage: apt_when_free.sh SECONDS APT_COMMAND...

Runs APT_COMMAND, and again while it fails because another program holds one of apt's locks, for at most
SECONDS. Says what it waits for. Exits with APT_COMMAND's status, or with 4 if the lock stayed taken.
APT_COMMAND must speak English (LC_ALL=C).
END
}
# apt's own DPkg::Lock::Timeout covers dpkg's two locks only. The locks of the lists (update) and
# of the archives (install) fail at once whatever it is, so all four are waited for here. Each is
# taken before anything is changed, so that a second run does not repeat half of a first.

# The line of apt's complaint that says which lock, on stdin; nothing if it failed for another
# cause.
lock_line() { sed -n 's/^E: \(.*Could not get lock .*\|.*is another process using it?\)$/\1/p' |
  head -n 1; }

if (($# < 2)) || [[ ! $1 =~ ^[0-9]+$ ]]; then
  usage >&2
  exit 2
fi
limit=$1
shift
complaint=$(mktemp)
trap 'rm -f "$complaint"' EXIT
started=$SECONDS
next_line=0 # seconds of waiting at which the next line is due

while true; do
  status=0
  "$@" 2>"$complaint" || status=$?
  taken=$([[ $status == 0 ]] || lock_line <"$complaint")
  if [[ -z $taken ]]; then
    cat "$complaint" >&2
    exit "$status"
  fi
  waited=$((SECONDS - started))
  if ((waited >= limit)); then
    cat "$complaint" >&2
    printf 'apt is still in use after %d s. When that has ended, please try again.\n' "$waited" >&2
    exit 4
  fi
  if ((waited >= next_line)); then
    printf 'waiting for another apt to end, %d of at most %d s: %s\n' "$waited" "$limit" "$taken" \
      >&2
    next_line=$((waited + 15))
  fi
  sleep 1
done
