#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts LLVM's openmp/ and cmake/ directories of one version under a directory.
#
#   fetch_openmp.sh --version 22.1.8 --out DIR --state DIR [--sources DIR]
#
# 1. Look for the archive where no network is needed: in --sources (else HIERBAR_SOURCES), then in the user's cache.
# 2. Otherwise download it into the cache: LLVM's release archive, or when that cannot be had the distribution's source package,
#    through an apt of its own (lists, cache and sources under --state) that leaves the machine's apt alone and needs no root.
# 3. Unpack openmp/ and cmake/, nothing else.
#
# Nothing is unpacked whose SHA-256 is not the expected one. A download that differs is deleted; a file in --sources is the
# user's, so it is refused and left alone.

set -euo pipefail
export LC_ALL=C

say() { printf 'hierbar: %s\n' "$*"; }
warn() { printf 'hierbar: %s\n' "$*" >&2; }

fail() {
  warn "error: $*"
  exit 1
}

# Sets what cmake/llvm_versions.txt knows about a version.
describe_version() {
  local known line=()
  known=$(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/llvm_versions.txt")
  read -r -a line < <(awk -v version="$1" '$1 == version' <<<"$known") ||
    fail "no LLVM version '$1' is known; known: $(awk '{print $1}' <<<"$known" | paste --serial --delimiters=' ')"
  upstream_sha256=${line[1]}
  debian_package=${line[2]}
  debian_sha256=${line[3]}
  debian_suites=("${line[@]:4}")
  debian_archive=${debian_package}_$1.orig.tar.xz
  upstream_archive=llvm-project-$1.src.tar.xz
  upstream_url=https://github.com/llvm/llvm-project/releases/download/llvmorg-$1/$upstream_archive
  # Stand-ins of a few kilobytes have other checksums; only the tests of this script set these.
  upstream_sha256=${HIERBAR_TEST_UPSTREAM_SHA256:-$upstream_sha256}
  debian_sha256=${HIERBAR_TEST_DEBIAN_SHA256:-$debian_sha256}
}

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

# mismatch FILE EXPECTED ACTUAL: the one way in which a wrong checksum is described.
mismatch() { printf 'wrong SHA-256 of %s: expected %s, actual %s' "$1" "$2" "$3"; }

# check_download FILE EXPECTED: succeeds or deletes the file and ends the script.
check_download() {
  local actual
  actual=$(sha256_of "$1")
  [[ $actual == "$2" ]] && return
  rm -f "$1"
  fail "$(mismatch "$1" "$2" "$actual"). The file was deleted."
}

# ---- 1. archives that are there already ----

look_in_sources() {
  local name expected actual
  [[ -n $sources ]] || return 1
  [[ -d $sources ]] || fail "HIERBAR_SOURCES='$sources' is not a directory; it must hold $debian_archive or $upstream_archive"
  for name in "$debian_archive" "$upstream_archive"; do
    [[ -f $sources/$name ]] || continue
    expected=$debian_sha256
    [[ $name == "$upstream_archive" ]] && expected=$upstream_sha256
    say "checking $sources/$name"
    actual=$(sha256_of "$sources/$name")
    [[ $actual == "$expected" ]] || fail "$(mismatch "$sources/$name" "$expected" "$actual")"
    archive=$sources/$name
    return
  done
  warn "HIERBAR_SOURCES='$sources' has neither $debian_archive nor $upstream_archive; looking further"
  return 1
}

look_in_cache() {
  local name expected actual
  for name in "$debian_archive" "$upstream_archive"; do
    expected=$debian_sha256
    [[ $name == "$upstream_archive" ]] && expected=$upstream_sha256
    [[ -f $cache/$name ]] || continue
    say "checking $cache/$name"
    actual=$(sha256_of "$cache/$name")
    if [[ $actual == "$expected" ]]; then
      archive=$cache/$name
      return
    fi
    rm -f "$cache/$name"
    warn "$(mismatch "$cache/$name" "$expected" "$actual"). The file was deleted; downloading it again."
  done
  return 1
}

# ---- 2. downloads ----

# with_progress COMMAND...: runs it, saying every few seconds how much of the download is there.
with_progress() {
  local status=0 reporter
  # Without descriptor 9: its last sleep would keep the lock for a moment after this script ends.
  (while sleep 5; do say "  $(du --summarize --block-size=MB "$partial" | cut -f1) so far"; done) 9>&- &
  reporter=$!
  "$@" || status=$?
  kill "$reporter"
  wait "$reporter" 2>/dev/null || true
  return "$status"
}

download_upstream() {
  command -v curl >/dev/null || { say "LLVM's release archive is not tried: there is no curl"; return 1; }
  say "downloading $upstream_url"
  if ! with_progress curl --fail --location --connect-timeout 10 --speed-limit 1000 --speed-time 20 --no-progress-meter \
    --output "$partial/$upstream_archive" "$upstream_url"; then
    warn "that failed; trying the distribution's source package"
    return 1
  fi
  check_download "$partial/$upstream_archive" "$upstream_sha256"
  mv "$partial/$upstream_archive" "$cache/"
  archive=$cache/$upstream_archive
}

# Prints the base addresses of the archives that this machine's apt is set up for, without the security archives, which have no
# source packages of the suites below.
configured_mirrors() {
  apt-get update --print-uris 2>/dev/null | sed -n "s|^'\(.*\)/dists/.*/InRelease'.*|\1|p" | grep -v security | sort -u
}

# private_apt TOOL ARGUMENT...: apt-get or apt-cache with the settings below, which win over the machine's.
private_apt() { "$1" --config-file="$state/apt.conf" "${@:2}"; }

write_apt_settings() { # MIRROR SUITE
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$state"/{lists,cache,etc}
  printf 'deb-src [signed-by=%s] %s %s main\n' "$keyring" "$1" "$2" >"$state/etc/sources.list"
  {
    printf 'Dir::State::lists "%s";\n' "$state/lists"
    printf 'Dir::Cache "%s";\n' "$state/cache"
    printf 'Dir::Etc::sourcelist "%s";\n' "$state/etc/sources.list"
    printf 'Dir::Etc::sourceparts "/dev/null";\n'
    printf 'Acquire::Languages "none";\nAcquire::Retries "2";\nAcquire::http::Timeout "20";\nAcquire::https::Timeout "20";\n'
    # The machine's hooks are for its own apt, and may need root.
    printf '#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n'
    # apt gives downloads to a user who may not write here; that user exists to protect a root who installs things.
    if ((EUID == 0)); then printf 'APT::Sandbox::User "root";\n'; fi
  } >"$state/apt.conf"
}

download_source_package() { # PACKAGE=REVISION
  (cd "$partial" && private_apt apt-get source -qq --download-only --tar-only --only-source "$1")
}

# Downloads the archive from one suite of one mirror. Fails, after saying why, when it is not there.
download_from_suite() { # MIRROR SUITE
  local versions revision
  write_apt_settings "$1" "$2"
  say "reading the source index of $2 at $1"
  if ! private_apt apt-get update -qq; then
    warn "cannot read it"
    return 1
  fi
  versions=$(private_apt apt-cache showsrc --only-source "$debian_package" 2>/dev/null | sed -n 's/^Version: //p')
  revision=$(grep -E "^([0-9]+:)?${version//./\\.}-" <<<"$versions" | tail -n 1) || true
  if [[ -z $revision ]]; then
    say "$2 has no $debian_package $version (it has: ${versions//$'\n'/, })"
    return 1
  fi
  say "downloading $debian_archive ($debian_package $revision), about 200 MB"
  if ! with_progress download_source_package "$debian_package=$revision"; then
    warn "the download failed"
    return 1
  fi
  check_download "$partial/$debian_archive" "$debian_sha256"
  mv "$partial/$debian_archive" "$cache/"
  archive=$cache/$debian_archive
}

download_debian() {
  local mirror suite
  command -v apt-get >/dev/null || { say "the distribution's source package is not tried: there is no apt-get"; return 1; }
  for mirror in $(configured_mirrors); do
    for suite in "${debian_suites[@]}"; do
      download_from_suite "$mirror" "$suite" && return
    done
  done
  return 1
}

# ---- 3. unpacking ----

unpack() {
  local fresh=$out.fresh
  say "unpacking openmp/ and cmake/ of $archive (about 15 s)"
  rm -rf "$fresh" "$out"
  mkdir -p "$fresh"
  xz --decompress --stdout --threads=0 "$archive" |
    tar --extract --directory="$fresh" --strip-components=1 --anchored --wildcards --no-wildcards-match-slash '*/openmp' '*/cmake'
  mv "$fresh" "$out"
}

find_archive() {
  look_in_sources && return
  if ! mkdir -p "$cache" 2>/dev/null || [[ ! -w $cache ]]; then
    cache=$state/sources
    mkdir -p "$cache"
  fi
  # Several build directories may want the same archive at once; the first one downloads it.
  exec 9>"$cache/.lock"
  flock 9
  look_in_cache && return
  partial=$(mktemp -d "$cache/partial.XXXXXX")
  # Asked, because with_progress's reporter inherits this trap for a moment: killed in it, it would take a running download away.
  trap '[[ $BASHPID != "$$" ]] || rm -rf "$partial"' EXIT
  download_upstream && return
  download_debian && return
  fail "cannot get the sources of LLVM $version. Put $debian_archive or $upstream_archive into a directory and name it in" \
    "HIERBAR_SOURCES, or build without libomp: cmake -DHIERBAR_BUILD_LIBOMP=OFF"
}

main() {
  version='' out='' state='' sources='' archive='' partial=''
  while (($#)); do
    case $1 in
      --version | --out | --state | --sources) printf -v "${1#--}" '%s' "${2?$1 needs a value}" && shift 2 ;;
      *) fail "unknown argument '$1'" ;;
    esac
  done
  [[ -n $version && -n $out && -n $state ]] || fail "--version, --out and --state are needed"
  sources=${sources:-${HIERBAR_SOURCES:-}}
  cache=${XDG_CACHE_HOME:-${HOME:-$state}/.cache}/hierbar/sources
  describe_version "$version"
  find_archive
  unpack
}

main "$@"
