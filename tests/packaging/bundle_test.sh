#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   bundle_test.sh BUILD_DIR
#
# Makes the archive of the target bench_bundle and runs it where there is nothing but busybox, not
# even a C library: what runs there needs none of the machine's, whatever its age.

source "$(dirname "$0")/../cmake/check.sh"
build_dir=$1
skip() { printf 'skipped: %s\n' "$*" && exit 77; }
[[ $EUID == 0 ]] || skip 'a root directory of its own needs root'
busybox=$(command -v busybox) || skip 'there is no busybox (Debian: busybox-static)'
file_is_static() { ! readelf --program-headers "$1" | grep --quiet INTERP; }
file_is_static "$busybox" || skip "$busybox is not static (Debian: busybox-static)"

run cmake --build "$build_dir" --target bench_bundle
check 'the bundle can be made' succeeded
archive=$(find "$build_dir" -maxdepth 1 -name 'hierbar-bench-*.tar.xz')
check 'it is smaller than 64 MiB' test "$(stat --format=%s "$archive")" -lt $((64 << 20))

root=$work/root
mkdir -p "$root"/{bin,bundle,proc,sys,dev,tmp}
tar --extract --file="$archive" --directory="$root/bundle" --strip-components=1
cp "$busybox" "$root/bin/busybox"
for applet in cat dirname head mkdir rm sed sh tee tr uname; do
  ln -s busybox "$root/bin/$applet"
done
# in_root COMMAND...: with the mounts of a machine, which go with the command.
in_root() {
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" &&
    mount --rbind /dev "$1/dev" && root=$1 && shift && exec chroot "$root" "$@"' sh "$root" "$@"
}

run in_root /bin/sh -c '/bundle/bin/hierbar topo --json'
check 'the machine can be read there' says '"active_levels"'
run in_root /bundle/run_here.sh --fast
check 'an unknown argument is refused' says "unknown argument '--fast'"
run in_root /bundle/run_here.sh --quick --output /tmp/results -- --threads 2 \
  --constructs barrier,decode --operations 50 --reps 2
check 'it measures there' succeeded
check 'it shows the figures' says 'Overview: median ns and ratio to hier'
check 'it leaves them to be read' exists "$root/tmp/results/summary.txt"
run python3 - "$root/tmp/results/results.json" <<'END'
import json, sys
results = json.load(open(sys.argv[1], encoding="utf-8"))
assert results["topology"]["num_cpus"] >= 1
measured = [one for one in results["barriers"]["configurations"] if not one["unavailable"]]
libraries = {one["name"]: one["library"] for one in measured}
paths = {
    "hier": "lib/libomp.so",
    "stock-build": "stock/lib/libomp.so",
    "libgomp": "peers/libgomp/libgomp.so.1",
}
for name, path in paths.items():
    assert libraries[name] == "/bundle/" + path, (name, libraries)
samples = results["barriers"]["groups"][0]["series"]
assert {"hier", "stock-build", "libgomp"} <= {one["name"] for one in samples}, samples
decodes = results["barriers"]["groups"][1]["series"]
shares = {one["name"]: one["sync_share"] for one in decodes}
assert all(shares[name] for name in ("hier", "stock-build", "libgomp")), shares
END
check 'results.json has the machine and the carried runtimes' succeeded

finish
