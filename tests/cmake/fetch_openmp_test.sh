#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests fetch_openmp.sh with archives of a few files and with stand-ins for curl and apt, so without
# a network.

source "$(dirname "$0")/check.sh"
fetch_script=$1/fetch_openmp.sh

debian_name=llvm-toolchain-22_22.1.8.orig.tar.xz
upstream_name=llvm-project-22.1.8.src.tar.xz

make_archive() { # FILE TOP_DIRECTORY
  mkdir -p "$work/tree/$2"/{openmp/runtime,cmake,llvm/cmake,clang/openmp,runtimes}
  mkdir -p "$work/tree/$2"/third-party/{benchmark,unittest}
  touch "$work/tree/$2"/{openmp/runtime/kmp.h,cmake/a.cmake,llvm/cmake/b.cmake,clang/openmp/c.h} \
    "$work/tree/$2"/{runtimes/d,third-party/benchmark/e,third-party/unittest/f}
  tar --create --xz --file "$1" --directory "$work/tree" "$2"
}

mkdir "$work/archives"
make_archive "$work/archives/$debian_name" llvm-toolchain-22_22.1.8
make_archive "$work/archives/$upstream_name" llvm-project-22.1.8.src
sha256_of() { sha256sum "$1" | cut -d' ' -f1; }
good_debian=$(sha256_of "$work/archives/$debian_name")
good_upstream=$(sha256_of "$work/archives/$upstream_name")
wrong=$(printf '%064d' 0)

# Each case starts with empty directories and tools that reach nothing.
start_case() {
  rm -rf "$work"/{out,state,sources,home,tools}
  mkdir -p "$work"/{sources,home,tools}
  printf '#!/bin/sh\nexit 1\n' | tee "$work/tools/curl" "$work/tools/apt-get" \
    >"$work/tools/apt-cache"
  chmod +x "$work"/tools/*
}

cache=$work/home/.cache/hierbar/sources

fetch() { # DEBIAN_SHA256 UPSTREAM_SHA256 [ARGUMENT...]
  run env -u XDG_CACHE_HOME -u HIERBAR_SOURCES HOME="$work/home" PATH="$work/tools:$PATH" \
    HIERBAR_TEST_DEBIAN_SHA256="$1" \
    HIERBAR_TEST_UPSTREAM_SHA256="$2" "$fetch_script" --version 22.1.8 --out "$work/out" \
    --state "$work/state" "${@:3}"
}

unpacked_are() {
  same_text "$(cd "$work/out" && find . -type f | sort | tr '\n' ' ')" "$1"
}
only_the_two_directories_are_unpacked() {
  unpacked_are './cmake/a.cmake ./openmp/runtime/kmp.h '
}

# 1. An archive in the user's directory.
start_case
cp "$work/archives/$debian_name" "$work/sources/"
fetch "$good_debian" "$good_upstream" --sources "$work/sources"
check 'a good archive in --sources is taken' succeeded
check 'only openmp/ and cmake/ of the top are unpacked' only_the_two_directories_are_unpacked

mkdir "$work/later"
cp "$work/archives/$debian_name" "$work/later/llvm-toolchain-23_23.1.1.orig.tar.xz"
fetch "$good_debian" "$good_upstream" --version 23.1.1 --sources "$work/later"
check 'from LLVM 23 on what configures openmp/ is unpacked as well' unpacked_are \
  "./cmake/a.cmake ./llvm/cmake/b.cmake ./openmp/runtime/kmp.h ./runtimes/d \
./third-party/unittest/f "

fetch "$wrong" "$good_upstream" --sources "$work/sources"
check 'a wrong checksum in --sources is an error' same_text "$status" 1
check 'it names the file' says "$work/sources/$debian_name"
check 'it names what was expected' says "expected $wrong"
check 'it names what was found' says "actual $good_debian"
check "the user's file is left alone" exists "$work/sources/$debian_name"

start_case
cp "$work/archives/$upstream_name" "$work/sources/"
fetch "$good_debian" "$wrong" --sources "$work/sources"
check 'an upstream archive with a wrong checksum is refused' same_text "$status" 1
check 'and named' says "$work/sources/$upstream_name: expected $wrong, actual $good_upstream"
fetch "$good_debian" "$good_upstream" --sources "$work/sources"
check 'an upstream archive with its checksum is taken' only_the_two_directories_are_unpacked

start_case
fetch "$good_debian" "$good_upstream" --sources "$work/no-such-directory"
check 'a directory that does not exist is an error' says \
  "HIERBAR_SOURCES='$work/no-such-directory' is not a directory"

# 2. The cache.
start_case
mkdir -p "$cache"
cp "$work/archives/$debian_name" "$cache/"
fetch "$good_debian" "$good_upstream"
check 'a good archive in the cache is taken' only_the_two_directories_are_unpacked
fetch "$wrong" "$good_upstream"
check 'a wrong archive in the cache is deleted' is_missing "$cache/$debian_name"
check 'and reported' says \
  "wrong SHA-256 of $cache/$debian_name: expected $wrong, actual $good_debian"
check 'when nothing can be had, the ways out are named' says HIERBAR_BUILD_LIBOMP=OFF
check 'and that is an error' same_text "$status" 1

# 3. The upstream release.
fake_curl() {
  cat >"$work/tools/curl" <<END
#!/bin/bash
while ((\$#)); do [[ \$1 == --output ]] && cp "$work/archives/$upstream_name" "\$2"; shift; done
END
}
start_case
fake_curl
fetch "$good_debian" "$good_upstream"
check 'the release is downloaded' only_the_two_directories_are_unpacked
check 'and kept' exists "$cache/$upstream_name"
start_case
fake_curl
fetch "$good_debian" "$wrong"
check 'a wrong download is an error' says \
  "expected $wrong, actual $good_upstream. The file was deleted."
check 'nothing of it is left' same_text "$(find "$cache" -name "$upstream_name")" ''

# 4. The distribution's source package, when there is no release to be had: the first suite has
#    another version, the second has the right one.
start_case
cat >"$work/tools/apt-get" <<END
#!/bin/bash
case "\$*" in
  *--print-uris*)
    echo "'http://mirror.test/debian/dists/stable/InRelease' a 0"
    echo "'http://mirror.test/debian-security/dists/stable-security/InRelease' b 0" ;;
  *update*) grep -o 'mirror[^ ]* [a-z]*' "$work/state/etc/sources.list" >>"$work/home/suites" ;;
  *source*llvm-toolchain-22=1:22.1.8-3) cp "$work/archives/$debian_name" . ;;
  *) exit 1 ;;
esac
END
cat >"$work/tools/apt-cache" <<END
#!/bin/bash
grep -q trixie "$work/state/etc/sources.list" && echo 'Version: 1:22.1.8-3' || echo 'Version: 1:23.0.1-1'
END
fetch "$good_debian" "$good_upstream"
check 'the release is tried first' says 'that failed; trying the distribution'
check 'the source package is taken' only_the_two_directories_are_unpacked
check 'a suite with another version is passed over, with its version' \
  says 'sid has no llvm-toolchain-22 22.1.8 (it has: 1:23.0.1-1)'
check 'the suites of the main archive are read in order, security is not' \
  same_text "$(tr '\n' ' ' <"$work/home/suites")" \
  'mirror.test/debian sid mirror.test/debian trixie '
check 'the archive is kept' exists "$cache/$debian_name"
rm "$cache/$debian_name"
fetch "$wrong" "$good_upstream"
check 'a wrong download is an error' says \
  "expected $wrong, actual $good_debian. The file was deleted."
cd "$work"
fetch "$good_debian" "$good_upstream" --state state
check 'a relative directory for apt is one of the caller' grep \
  --quiet "^Dir::State::lists \"$work/state/lists\"" state/apt.conf
cd "$OLDPWD"

# 5. Arguments.
run "$fetch_script" --version 7.0.0 --out "$work/out" --state "$work/state"
check 'an unknown version is an error' says \
  "no LLVM version '7.0.0' is known; known: 22.1.8 23.1.1 19.1.7"
start_case
fetch "$good_debian" "$good_upstream" --sources "$work/archives" --version 19.1.7
check 'another version has another archive' says \
  'has neither llvm-toolchain-19_19.1.7.orig.tar.xz nor llvm-project-19.1.7.src'


finish
