#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests fetch_topologies.sh with an archive of a few files and with stand-ins for lstopo and apt, so
# without a network. What it shares with fetch_openmp.sh is tested there.

source "$(dirname "$0")/../cmake/check.sh"
fetch_script=$(dirname "$0")/fetch_topologies.sh
name=hwloc_2.9.0.orig.tar.bz2
tests=$work/tree/hwloc-2.9.0/tests/hwloc

record() { # FOLDER NAME FILE...: an archive of a directory with these files
  mkdir -p "$tests/$1" "$work/recorded"
  (cd "$work/recorded" && mkdir "$2" && cd "$2" && mkdir "${@:3}")
  tar --create --bzip2 --file "$tests/$1/$2.tar.bz2" --directory "$work/recorded" "$2"
}
record linux snapshot sys proc
record x86 dump pu0
record x86+linux both fsroot cpuid
mkdir -p "$tests/xml" "$work"/{archives,home,tools} "$work/tree/hwloc-2.9.0/include"
touch "$tests/xml/ready.xml" "$work/tree/hwloc-2.9.0/include/hwloc.h"
tar --create --bzip2 --file "$work/archives/$name" --directory "$work/tree" hwloc-2.9.0
good=$(sha256sum "$work/archives/$name" | cut -d' ' -f1)
wrong=$(printf '%064d' 0)
printf '# a comment\nlinux/snapshot A=1\n\nx86/dump\nx86+linux/both\nxml/ready\n' \
  >"$work/machines.txt"

printf '#!/bin/sh\nexit 1\n' | tee "$work/tools/apt-get" >"$work/tools/apt-cache"
# It writes what it is asked, and what it would read, in place of a machine.
cat >"$work/tools/lstopo-no-graphics" <<'END'
#!/bin/bash
for file; do :; done
{
  printf '%s\n' "${@:1:$#-1}"
  env | grep '^HWLOC\|^A='
  for directory in "$HWLOC_FSROOT" "$HWLOC_CPUID_PATH"; do
    [[ -z $directory ]] || (cd "$directory" && echo *)
  done
} >"$file"
END
chmod +x "$work"/tools/*

fetch() { # SHA256 [ARGUMENT...]
  run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" \
    PATH="$work/tools:$PATH" HIERBAR_TEST_DEBIAN_SHA256="$1" \
    HIERBAR_TEST_MACHINES="$work/machines.txt" HWLOC_XMLFILE=/of/the/user "$fetch_script" "${@:2}"
}
out=$work/home/.cache/hierbar/topologies
has() {
  grep --quiet --line-regexp --fixed-strings -- "$2" "$out/$1.xml" ||
    { sed 's/^/  | /' "$out/$1.xml" && false; }
}
has_not() { ! grep --quiet -- "$2" "$out/$1.xml"; }

fetch "$good"
check 'without a network it is an error' same_text "$status" 1
check 'which names the archive and the variable' \
  says "Put $name into a directory and name it in HIERBAR_SOURCES, or leave the tests on recorded \
machines out"
fetch "$wrong" --sources "$work/archives"
check 'a wrong checksum is an error' \
  says "wrong SHA-256 of $work/archives/$name: expected $wrong, actual $good"
check 'nothing is written then' is_missing "$out"

fetch "$good" --sources "$work/archives"
check 'a good archive in --sources is taken' succeeded
check 'the machines of the list are written, into the cache directory' \
  same_text "$(cd "$out" && echo *)" \
  'both.xml complete dump.xml ready.xml snapshot.xml'
check 'disallowed cpus are written too' has snapshot --disallowed
check 'a snapshot is read by the Linux part of hwloc' has snapshot HWLOC_COMPONENTS=linux,stop
check 'below its directory' has snapshot 'proc sys'
check 'with the variables of the list' has snapshot A=1
check 'cpuid dumps are read by the x86 part' has dump HWLOC_COMPONENTS=x86,stop
check 'below their directory' has dump pu0
check 'without the variables of other machines' has_not dump '^A='
check 'both are read by both' has both HWLOC_COMPONENTS=x86,linux,stop
check 'a file is read as it is' has ready --input
check "the user's variables of hwloc do not count" has_not snapshot HWLOC_XMLFILE
check 'no directory is left beside' same_text "$(cd "$out/.." && echo *)" 'sources topologies'

mv "$work/archives/$name" "$work/mirror.tar.bz2"
fetch "$good"
check 'what is there is not fetched again' succeeded
check 'and nothing is said' same_text "$(cat "$work/output")" ''

cat >"$work/tools/apt-get" <<END
#!/bin/bash
case "\$*" in
  *--print-uris*) echo "'http://mirror.test/debian/dists/stable/InRelease' a 0" ;;
  *update*) ;;
  *source*hwloc=2.9.0-1) cp "$work/mirror.tar.bz2" $name ;;
  *) exit 1 ;;
esac
END
printf '#!/bin/sh\necho "Version: 2.9.0-1"\n' >"$work/tools/apt-cache"
printf 'xml/ready\n' >"$work/machines.txt"
fetch "$good"
check "another list is served, from the distribution's source package" succeeded
check 'without the machines that it no longer names' \
  same_text "$(cd "$out" && echo *)" 'complete ready.xml'
check 'the archive is kept for the next time' exists "$work/home/.cache/hierbar/sources/$name"
check "apt's state is not" is_missing "$out.state"

printf 'xml/missing\n' >"$work/machines.txt"
printf '#!/bin/sh\n[ -e "$2" ]\n' >"$work/tools/lstopo-no-graphics"
fetch "$good"
check 'a machine that cannot be read is an error' \
  says "lstopo-no-graphics cannot read xml/missing of $work/home/.cache"
check 'which leaves the machines of before' exists "$out/ready.xml"
printf 'other/machine\n' >"$work/machines.txt"
fetch "$good"
check 'a folder of another kind is an error' says "unknown folder of 'other/machine'"

finish
