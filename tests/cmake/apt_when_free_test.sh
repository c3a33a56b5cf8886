#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What bootstrap runs apt by waits for each lock that apt takes, says so, and gives up in the end.
# apt has directories of its own here, with a repository of one package, and installs nothing.
# Argument: the folder cmake.

source "$(dirname "$0")/check.sh"
for tool in apt-get dpkg-deb python3; do
  command -v "$tool" >/dev/null || { printf 'Skipped: there is no %s\n' "$tool" && exit 77; }
done

mkdir -p "$work"/{repository,lists/partial,dpkg,archives/partial,package/DEBIAN}
touch "$work/dpkg/status"
printf '%s\n' 'Package: hierbar-nothing' 'Version: 1' 'Architecture: all' \
  'Maintainer: none <none@example.org>' \
  'Description: nothing' >"$work/package/DEBIAN/control"
deb=$work/repository/nothing.deb
dpkg-deb --build "$work/package" "$deb" >/dev/null
{
  dpkg-deb --field "$deb"
  printf 'Filename: ./nothing.deb\nSize: %d\nSHA256: %s\n' "$(stat -c %s "$deb")" \
    "$(sha256sum "$deb" | cut -d' ' -f1)"
} >"$work/repository/Packages"
printf 'deb [trusted=yes] file:%s ./\n' "$work/repository" >"$work/sources.list"
cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/dpkg/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG=$work/apt.conf
apt_when_free() { "$project_cmake/apt_when_free.sh" "$@"; }
project_cmake=$1

# hold FILE: another process has this lock, as apt takes it, from here until release.
hold() {
  coproc holder { exec python3 -c '
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()' "$1"; }
  read -r _ <&"${holder[0]}"
}
release() {
  local id=$holder_PID
  kill "$id" && wait "$id" 2>/dev/null || true
}

update=(apt-get -qq update)
install=(apt-get -qq --download-only install hierbar-nothing)

run apt_when_free 60 "${update[@]}"
check 'nothing is said where no lock is taken' succeeded
check 'and nothing is' same_text "$(cat "$work/output")" ''

mkfifo "$work/said"
try() { # LOCK COMMAND...
  hold "$1"
  run apt_when_free 0 "${@:2}"
  check "it gives up at last: $1" same_text "$status" 4
  check 'and names the lock' says "$1"
  check 'and says what to do' says 'apt is still in use after'
  apt_when_free 60 "${@:2}" 2>"$work/said" &
  local waiter=$! line
  { read -r line && release && cat >/dev/null; } <"$work/said"
  check 'it says what it waits for' same_text \
    "$(sed 's/, [0-9]* of at most 60 s: .*//' <<<"$line")" \
    'waiting for another apt to end'
  check "it goes on when the lock is free: $1" wait "$waiter"
}
try "$work/lists/lock" "${update[@]}"
try "$work/dpkg/lock-frontend" "${install[@]}"
try "$work/dpkg/lock" "${install[@]}"
try "$work/archives/lock" "${install[@]}"

run apt_when_free 60 apt-get -qq --download-only install no-such-package
check 'another failure is not waited for' same_text "$status" 100
check 'and what apt says is passed on' says 'Unable to locate package no-such-package'

run apt_when_free soon apt-get -qq update
check 'a limit that is no number is refused' same_text "$status" 2
check 'with the usage' says 'usage: apt_when_free.sh SECONDS'
check 'bootstrap runs apt by it' grep -q 'apt=(cmake/apt_when_free.sh [0-9]' \
  "$project_cmake/../bootstrap"
check 'and in no other way' same_text "$(grep -c 'apt-get ' "$project_cmake/../bootstrap")" 1
finish
