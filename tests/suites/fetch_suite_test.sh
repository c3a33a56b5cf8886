#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   fetch_suite_test.sh mpich|benchmarks
#
# Tests fetch_suite.sh without a network, with archives of a few files and with scripts in place of
# curl and apt. What it shares with fetch_openmp.sh is tested there.

source "$(dirname "$0")/../cmake/check.sh"
fetch_script=$(dirname "$0")/fetch_suite.sh

test_mpich() {
  name=mpich_4.0.2.orig.tar.xz

  mkdir -p "$work"/{archives,home,tools} "$work"/tree/mpich-4.0.2/{test/mpi/coll,test/util,src/mpi}
  touch "$work"/tree/mpich-4.0.2/{test/mpi/coll/testlist.in,test/util/a.c,src/mpi/b.c}
  tar --create --xz --file "$work/archives/$name" --directory "$work/tree" mpich-4.0.2
  good=$(sha256sum "$work/archives/$name" | cut -d' ' -f1)
  wrong=$(printf '%064d' 0)
  printf '#!/bin/sh\nexit 1\n' | tee "$work/tools/apt-get" >"$work/tools/apt-cache"
  chmod +x "$work"/tools/*

  fetch() { # SHA256 [ARGUMENT...]
    run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" PATH="$work/tools:$PATH" \
      HIERBAR_TEST_DEBIAN_SHA256="$1" \
      "$fetch_script" --suite mpich --out "$work/out" --state "$work/state" "${@:2}"
  }

  only_the_tests_are_unpacked() { same_text "$(cd "$work/out" && find . -type f)" \
    './coll/testlist.in'; }

  fetch "$good"
  check 'without a network it is an error' same_text "$status" 1
  check 'which names the archive and the variable' says \
    "Put $name into a directory and name it in HIERBAR_SOURCES, or leave its tests out"

  fetch "$wrong" --sources "$work/archives"
  check 'a wrong checksum is an error' says \
    "wrong SHA-256 of $work/archives/$name: expected $wrong, actual $good"
  check 'nothing is unpacked then' is_missing "$work/out"

  fetch "$good" --sources "$work/home"
  check 'a directory without the archive is told' says \
    "HIERBAR_SOURCES='$work/home' has no $name; looking further"

  fetch "$good" --sources "$work/archives"
  check 'a good archive in --sources is taken' succeeded
  check 'only test/mpi is unpacked' only_the_tests_are_unpacked
  mv "$work/archives/$name" "$work/mirror.tar.xz"
  fetch "$good"
  check 'what is there is not fetched again' succeeded

  cat >"$work/tools/apt-get" <<END
#!/bin/bash
case "\$*" in
  *--print-uris*) echo "'http://mirror.test/debian/dists/stable/InRelease' a 0" ;;
  *update*) ;;
  *source*mpich=4.0.2-3) cp "$work/mirror.tar.xz" $name ;;
  *) exit 1 ;;
esac
END
  printf '#!/bin/sh\necho "Version: 4.0.2-3"\n' >"$work/tools/apt-cache"
  rm -r "$work/out"
  fetch "$wrong"
  check 'a download with a wrong checksum is an error' says \
    "wrong SHA-256 of $work/home/.cache/hierbar/sources/"
  check 'and nothing of it is kept' same_text "$(find "$work/home" -name "$name")" ''
  fetch "$good"
  check "the distribution's source package is taken" only_the_tests_are_unpacked
  check 'and kept for the next time' exists "$work/home/.cache/hierbar/sources/$name"
}

test_benchmarks() {
  name=IMB-v2021.3.tar.gz

  mkdir -p "$work"/{archives,home,tools,tree/mpi-benchmarks-IMB-v2021.3/src_cpp}
  touch "$work/tree/mpi-benchmarks-IMB-v2021.3/src_cpp/Makefile"
  tar --create --gzip --file "$work/archives/$name" --directory "$work/tree" \
    mpi-benchmarks-IMB-v2021.3
  good=$(sha256sum "$work/archives/$name" | cut -d' ' -f1)
  printf '#!/bin/sh\nexit 1\n' >"$work/tools/curl"
  chmod +x "$work/tools/curl"

  fetch() { # [ARGUMENT...]
    run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" PATH="$work/tools:$PATH" \
      HIERBAR_TEST_UPSTREAM_SHA256="$good" \
      "$fetch_script" --out "$work/out" --state "$work/state" "$@"
  }

  fetch --suite imb
  check 'without a network it is an error' same_text "$status" 1
  check 'which names the archive and the variable' says \
    "Put $name into a directory and name it in HIERBAR_SOURCES, or leave it out"

  fetch --suite linpack
  check 'an unknown suite is an error' says "--suite 'linpack': allowed: mpich, osu, imb"

  fetch --suite imb --sources "$work/archives"
  check 'a good archive in --sources is taken' succeeded
  check 'and unpacked' exists "$work/out/src_cpp/Makefile"

  rm -r "$work/archives"
  fetch --suite imb
  check 'what is there is not fetched again' succeeded
}

"test_$1"
finish
