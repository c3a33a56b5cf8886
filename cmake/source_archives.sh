# shellcheck shell=bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# To be sourced by the scripts that fetch somebody else's sources: finds an archive, or downloads
# it.
#
# 1. Look for the archive where no network is needed: in the directory that the user names, then in
#    the user's cache.
# 2. Otherwise download it into the cache, in the ways that the script names. Two of them are here:
#    the authors' archive, and the distribution's source package, through an apt of its own (lists,
#    cache and sources under $state) that leaves the machine's apt alone and needs no root.
#
# No archive is returned whose SHA-256 is not the expected one. A download that differs is deleted;
# a file in the user's directory is refused and left alone.
#
# The script sets these and calls find_archive, which sets `archive` to the path of what it found:
#
#   archives         an array of "NAME SHA256": the archives that serve, the preferred one first
#   downloads        an array of functions, tried in this order; each sets `archive`, or fails
#                    after saying why
#   title            what is fetched, for messages
#   without          how to do without it, for the message when nothing can be had
#   state            a directory for apt's state, and for the cache where the user's cannot be
#                    written
#   sources          the user's directory, or empty
#
# download_upstream needs these as well:
#
#   upstream_url, upstream_archive, upstream_sha256  the authors' archive
#   upstream_next    what is tried after it, for messages, or unset
#
# download_debian needs these as well:
#
#   debian_package, debian_version  the source package and its upstream version
#   debian_suites                   an array of suites that may have it
#   debian_size                     how large the archive is, for messages
#   debian_archive, debian_sha256   its original archive

set -euo pipefail
export LC_ALL=C
source "$(dirname "${BASH_SOURCE[0]}")/private_apt.sh"

say() { printf 'hierbar: %s\n' "$*"; }
warn() { printf 'hierbar: %s\n' "$*" >&2; }

fail() {
  warn "error: $*"
  exit 1
}

# read_options "NAME..." ARGUMENT...: sets each variable NAME to the value of its option --NAME, or
# to nothing; `sources` to HIERBAR_SOURCES then.
read_options() {
  local names=" $1 " name
  for name in $1; do
    printf -v "$name" ''
  done
  shift
  while (($#)); do
    [[ $1 == --* && $names == *" ${1#--} "* ]] || fail "unknown argument '$1'"
    printf -v "${1#--}" '%s' "${2?$1 needs a value}"
    shift 2
  done
  sources=${sources:-${HIERBAR_SOURCES:-}}
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

# archive_names [WORD]: the archives' names, with 'or' or this word between them.
archive_names() {
  local text=${archives[0]%% *} other
  for other in "${archives[@]:1}"; do
    text+=" ${1:-or} ${other%% *}"
  done
  printf '%s' "$text"
}

# ---- 1. archives that are there already ----

look_in_sources() {
  local wanted name expected actual none='neither '
  [[ -n $sources ]] || return 1
  [[ -d $sources ]] ||
    fail "HIERBAR_SOURCES='$sources' is not a directory; it must hold $(archive_names)"
  for wanted in "${archives[@]}"; do
    read -r name expected <<<"$wanted"
    [[ -f $sources/$name ]] || continue
    say "checking $sources/$name"
    actual=$(sha256_of "$sources/$name")
    [[ $actual == "$expected" ]] || fail "$(mismatch "$sources/$name" "$expected" "$actual")"
    archive=$sources/$name
    return
  done
  ((${#archives[@]} > 1)) || none='no '
  warn "HIERBAR_SOURCES='$sources' has $none$(archive_names nor); looking further"
  return 1
}

look_in_cache() {
  local wanted name expected actual
  for wanted in "${archives[@]}"; do
    read -r name expected <<<"$wanted"
    [[ -f $cache/$name ]] || continue
    say "checking $cache/$name"
    actual=$(sha256_of "$cache/$name")
    if [[ $actual == "$expected" ]]; then
      archive=$cache/$name
      return
    fi
    rm -f "$cache/$name"
    warn \
      "$(mismatch "$cache/$name" "$expected" "$actual"). The file was deleted; downloading anew."
  done
  return 1
}

# ---- 2. downloads ----

# with_progress COMMAND...: runs it, saying every few seconds how much of the download is there.
with_progress() {
  local status=0 reporter
  # Without descriptor 9: its last sleep would keep the lock for a moment after this script ends.
  (while sleep 5; do say "  $(du --summarize --block-size=MB "$partial" | cut -f1) so far"; done) \
    9>&- &
  reporter=$!
  "$@" || status=$?
  kill "$reporter"
  wait "$reporter" 2>/dev/null || true
  return "$status"
}

# keep_download NAME SHA256: the last step of a download into $partial.
keep_download() {
  check_download "$partial/$1" "$2"
  mv "$partial/$1" "$cache/"
  archive=$cache/$1
}

# The authors' archive.
download_upstream() {
  command -v curl >/dev/null || { say "$upstream_url is not tried: there is no curl"; return 1; }
  say "downloading $upstream_url"
  if ! with_progress curl --fail --location --connect-timeout 10 --speed-limit 1000 \
    --speed-time 20 --no-progress-meter \
    --output "$partial/$upstream_archive" "$upstream_url"; then
    warn "that failed${upstream_next:+; $upstream_next}"
    return 1
  fi
  keep_download "$upstream_archive" "$upstream_sha256"
}

download_source_package() { # PACKAGE=REVISION
  (cd "$partial" && private_apt apt-get source -qq --download-only --tar-only --only-source "$1")
}

# Downloads the archive from one suite of one mirror. Fails, after saying why, when it is not there.
download_from_suite() { # MIRROR SUITE
  local versions revision
  write_apt_settings deb-src "$1" "$2"
  say "reading the source index of $2 at $1"
  if ! private_apt apt-get update -qq; then
    warn "cannot read it"
    return 1
  fi
  versions=$(private_apt apt-cache showsrc --only-source "$debian_package" 2>/dev/null |
    sed -n 's/^Version: //p')
  revision=$(grep -E "^([0-9]+:)?${debian_version//./\\.}-" <<<"$versions" | tail -n 1) || true
  if [[ -z $revision ]]; then
    say "$2 has no $debian_package $debian_version (it has: ${versions//$'\n'/, })"
    return 1
  fi
  say "downloading $debian_archive ($debian_package $revision), about $debian_size"
  if ! with_progress download_source_package "$debian_package=$revision"; then
    warn "the download failed"
    return 1
  fi
  keep_download "$debian_archive" "$debian_sha256"
}

download_debian() {
  local mirror suite
  command -v apt-get >/dev/null ||
    { say "the distribution's source package is not tried: there is no apt-get"; return 1; }
  for mirror in $(configured_mirrors); do
    for suite in "${debian_suites[@]}"; do
      download_from_suite "$mirror" "$suite" && return
    done
  done
  return 1
}

# ---- both ----

find_archive() {
  local cache download
  cache=${XDG_CACHE_HOME:-${HOME:-$state}/.cache}/hierbar/sources
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
  # Asked, because with_progress's reporter inherits this trap for a moment: killed in it, it would
  # take a running download away.
  trap '[[ $BASHPID != "$$" ]] || rm -rf "$partial"' EXIT
  for download in "${downloads[@]}"; do
    "$download" && return
  done
  fail \
    "cannot get $title. Put $(archive_names) into a directory and name it in HIERBAR_SOURCES, or $without"
}

# fetch_once --out DIR --state DIR [--sources DIR]: finds the archive and has the script's function
# unpack put it into DIR, which `out` then names. If DIR is there already, nothing is done.
fetch_once() {
  local out state sources archive
  read_options "out state sources" "$@"
  [[ -n $out && -n $state ]] || fail "--out and --state are needed"
  [[ ! -d $out ]] || return 0
  find_archive
  unpack
}
