#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make_bundle.sh BUILD_DIR SOURCE_DIR ARCHIVE VERSION
#
# Packs the benchmark of OpenMP's barriers into one archive that runs on any Linux of this machine's
# architecture, whatever its C library is: it carries the loader and all libraries that it uses
# (docs/design/packaging.md#d0129).
#
#   run_here.sh, README.txt, and what run_here.sh says of them: version, processor
#   bin/               the commands, and ld.so: they look for their files from /proc/self/exe
#   lib/, stock/lib/   our libomp with libhierbar.so, and the unmodified libomp
#   peers/             the system's libomp and libgomp of the machine where this is built
#   libexec/hierbar/   the measured programs
#   programs/          the programs themselves; what has their names elsewhere starts them by ld.so
#   system/            the C library and the like
#   licences/          of what does not come from this project

set -euo pipefail
export LC_ALL=C
build_dir=$1 source_dir=$2 archive=$3 version=$4
name=$(basename "$archive" .tar.xz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
carried=() # files of this machine
fail() { printf 'make_bundle.sh: %s\n' "$*" >&2 && exit 1; }

mkdir -p "$root"/{bin,lib,stock/lib,peers,libexec/hierbar,programs,system,licences}

# wrap NAME PROGRAM: a command at NAME, in a folder at any depth, that starts the program with the
# bundle's libraries behind those of LD_LIBRARY_PATH. The loader's plugins and cache of the machine
# are for another C library.
wrap() {
  local up=${1//[^\/]/}
  cp "$2" "$root/programs/${1##*/}"
  {
    printf '#!/bin/sh\n# Made by make_bundle.sh.\nroot=${0%%/*}/%s\n' "${up//\//../}"
    printf 'export HWLOC_PLUGINS_PATH=/nonexistent\n'
    printf 'exec "$root/bin/ld.so" --inhibit-cache '
    printf -- '--library-path "${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$root/system" '
    printf '"$root/programs/%s" "$@"\n' "${1##*/}"
  } >"$root/$1"
  chmod +x "$root/$1"
}

wrap bin/omp_barrier_bench "$build_dir/bin/omp_barrier_bench"
wrap bin/hierbar "$build_dir/bin/hierbar"
wrap bin/bundle_results "$build_dir/bin/bundle_results"
for worker in floor_worker omp_barrier_worker_gcc omp_barrier_worker_clang; do
  if [[ -x $build_dir/libexec/hierbar/$worker ]]; then
    wrap "libexec/hierbar/$worker" "$build_dir/libexec/hierbar/$worker"
  fi
done
ours=("$build_dir"/lib/{libomp.so,libomp.so.5,libiomp5.so,libgomp.so.1}
      "$build_dir"/lib/{libhierbar.so*,libhierbar_hwloc.so.0*})
cp --no-dereference "${ours[@]}" "$build_dir/lib/libhierbar_ompt.so" "$root/lib"
cp --no-dereference "$build_dir"/stock/lib/{libomp.so,libomp.so.5,libgomp.so.1} "$root/stock/lib"
cp "$build_dir/libexec/hierbar/libnoop_tool.so" "$root/libexec/hierbar"
cp "$source_dir/packaging/bundle/run_here.sh" "$source_dir/packaging/bundle/README.txt" "$root"
printf '%s\n' "$version" >"$root/version"
uname -m >"$root/processor"

# The peers that the measured programs load here, under the names that they ask for.
loaded() { ldd "$1" | sed -nE "s/^\s*($2[^ ]*) => (\/[^ ]+).*/\1 \2/p"; }
take_peer() { # PROGRAM PREFIX FOLDER
  local soname path
  read -r soname path < <(loaded "$root/programs/$1" "$2") || fail "$1 loads no $2 here"
  mkdir "$root/peers/$3"
  cp "$path" "$root/peers/$3/$soname"
  carried+=("$path")
}
take_peer omp_barrier_worker_gcc libgomp libgomp
if [[ -x $root/programs/omp_barrier_worker_clang ]]; then
  take_peer omp_barrier_worker_clang libomp libomp
fi

# Everything that any of them needs and that is not there yet, and what the C library opens by
# itself.
needed_by_all() {
  find "$root" -type f -exec sh -c 'head -c4 "$1" | grep -q ELF && ldd "$1"' sh {} \; 2>/dev/null |
    sed -nE 's/^\s*(\/[^ ]+) \(.*/\1/p; s/^\s*\S+ => (\/[^ ]+) \(.*/\1/p' |
    grep --invert-match --fixed-strings "$build_dir/" | sort --unique
}
for path in $(needed_by_all); do
  carried+=("$path")
  case ${path##*/} in
    ld-linux*) # libraries name it as well
      cp "$path" "$root/bin/ld.so"
      cp "$path" "$root/system/${path##*/}"
      ;;
    libomp.so* | libgomp.so*) ;;
    *) cp "$path" "$root/system/${path##*/}" ;;
  esac
done
[[ -x $root/bin/ld.so ]] || fail 'no loader was found'
needed() {
  find "$root" -type f -exec sh -c 'head -c4 "$1" | grep -q ELF && readelf -d "$1"' sh {} \; |
    sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | sort --unique
}
missing=$(needed | while read -r soname; do
  find "$root" -name "$soname" | grep --quiet . || printf '%s ' "$soname"
done)
[[ -z $missing ]] || fail "these libraries are missing: $missing"

cp "$source_dir/LICENSE" "$root/licences/hierbar"
# Several if a test has fetched an older LLVM.
llvm_licences=("$build_dir"/libomp/stock-*/openmp/LICENSE.TXT)
cp "${llvm_licences[-1]}" "$root/licences/LLVM"
versions='${Package} ${Version}, source ${source:Package} ${source:Version}\n'
for path in "${carried[@]}"; do
  # Empty if no package has the file, or there is no dpkg-query.
  package=$(dpkg-query --search "$(realpath "$path")" "$path" 2>/dev/null | sed -n '1s/:.*//p') ||
    true
  if [[ -n $package && -f /usr/share/doc/$package/copyright ]]; then
    cp "/usr/share/doc/$package/copyright" "$root/licences/$package"
  fi
  [[ -z $package ]] || dpkg-query --show --showformat="$versions" "$package"
done | sort --unique >"$root/licences/debian-packages.txt"

tar --create --directory="$work" --sort=name --owner=0 --group=0 --numeric-owner "$name" |
  xz --threads=0 -6 >"$archive.new"
mv "$archive.new" "$archive"
printf '%s: %s MB\n' "$archive" "$(($(stat --format=%s "$archive") / 1000000))"
