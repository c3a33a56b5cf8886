#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   deb_test.sh SOURCE_DIR DIRECTORY
#
# Builds the Debian packages without a network and has lintian read them. In a fresh Debian 12 of
# its own: autopkgtest runs the packages' tests, and installing and removing them leaves no trace
# (piuparts). DIRECTORY keeps the packages and that Debian.

source "$(dirname "$0")/../cmake/check.sh"
source_dir=$1 directory=$(realpath --canonicalize-missing "$2")
base=$directory/bookworm.tar.gz
skip() { finish && printf 'skipped: %s\n' "$*" && exit 77; } # not what has failed already
[[ $EUID == 0 ]] || skip 'a Debian in a directory needs root'
for tool in dh lintian autopkgtest piuparts mmdebstrap; do
  command -v $tool >/dev/null ||
    skip "there is no $tool (Debian: debhelper lintian autopkgtest piuparts mmdebstrap)"
done
mkdir -p "$directory/packages"

# 1. Build. LLVM's archive is in HIERBAR_SOURCES or in the cache, from where the build takes it.
run unshare --net "$source_dir/packaging/build_deb.sh" "$directory/packages"
cp "$work/output" "$directory/build.log"
check 'the packages build without a network' succeeded
changes=$(find "$directory/packages" -name '*.changes')
[[ -n $changes ]] || { finish && exit 1; }
run lintian --allow-root --fail-on error,warning --no-tag-display-limit "$changes"
check 'lintian has nothing to say' succeeded
run dpkg --contents "$(find "$directory/packages" -name 'hierbar_*.deb')"
check 'the runtime is in it' says /hierbar/preload/libgomp.so.1
misplaced=$(grep --extended-regexp '/lib(gomp|omp|iomp5)[^/]*$' "$work/output" |
  grep --invert-match /hierbar/) || true
check 'the runtime is not where the loader searches' same_text "$misplaced" ''

# 2. A Debian 12 of its own, from the mirror that this machine's apt is set up for.
mirror=$(source "$source_dir/cmake/private_apt.sh" &&
  configured_mirrors | grep --max-count=1 debian) ||
  skip 'apt is set up for no mirror of Debian'
if [[ ! -f $base ]]; then
  run mmdebstrap --variant=apt --include=ca-certificates bookworm "${base%/*}/new-${base##*/}" \
    "deb $mirror bookworm main"
  [[ $status == 0 ]] || { cat "$work/output" && skip 'no Debian 12 can be had from the mirror'; }
  mv "${base%/*}/new-${base##*/}" "$base"
fi
mkdir "$work/debian"
tar --extract --file="$base" --directory="$work/debian"
cp /etc/resolv.conf "$work/debian/etc/"
# Of the environment only a proxy gets in: a developer's compiler launcher is not in that Debian.
clean=(env --ignore-environment PATH="$PATH" HOME="$HOME" ${http_proxy:+http_proxy="$http_proxy"})
# A directory has no /proc and no /sys of its own, and mmdebstrap leaves no package lists. The
# mounts go with the command.
run "${clean[@]}" unshare --mount sh -c 'root=$1 && shift && mount -t proc proc "$root/proc" &&
  mount --rbind /sys "$root/sys" &&
  exec autopkgtest --setup-commands "apt-get update" --no-built-binaries "$@" -- chroot "$root"' \
  sh "$work/debian" "$directory"/packages/*.deb "$directory"/packages/*.dsc
cp "$work/output" "$directory/autopkgtest.log"
check "the packages' own tests pass in it" succeeded
run piuparts --no-upgrade-test --basetgz="$base" --no-eatmydata --distribution=bookworm \
  --mirror="$mirror main" \
  "$directory"/packages/{hierbar,libhierbar0,libhierbar-dev}_*.deb
cp "$work/output" "$directory/piuparts.log"
check 'installed and removed, they leave nothing' succeeded

finish
