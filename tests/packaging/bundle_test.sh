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
lacks() { ! contains "$@"; } # TEXT FILE
contains() { grep --quiet --fixed-strings -- "$1" "$2"; }
# in_root COMMAND...: with the mounts of a machine, which go with the command.
in_root() {
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" &&
    mount --rbind /dev "$1/dev" && root=$1 && shift && exec chroot "$root" "$@"' sh "$root" "$@"
}

run in_root /bin/sh -c '/bundle/bin/hierbar topo --json'
check 'the machine can be read there' says '"active_levels"'
run in_root /bundle/run_here.sh --fast
check 'an unknown argument is refused' says "unknown argument '--fast'"
run in_root /bundle/run_here.sh --seconds soon
check 'a bad limit is refused' says "--seconds: 'soon'; allowed: a number of 30 or more"

# Under a user's name that must not be in the file.
measure='export USER=zacharias HOME=/tmp/zacharias HIERBAR_ALGORITHM=mcs; cd /bundle &&
  ./run_here.sh --quick --output /tmp/results.json -- --threads 2 \
    --constructs barrier,decode --operations 50 --reps 2'
results=$root/tmp/results.json
run in_root /bin/sh -c "$measure"
check 'it measures there' succeeded
check 'it shows the figures' says 'Overview: median ns and ratio to hier'
check 'it leaves them to be read' exists "$results"
check 'it leaves nothing else' is_missing "$results.parts"
run in_root /bin/sh -c "$measure"
check 'it does not replace an earlier file' says 'results.json is there already'
for private in zacharias /bundle /tmp "$(uname -n)" "$build_dir" "$root"; do
  check "'$private' is not in the file" lacks "$private" "$results"
done
run python3 - "$results" <<'END'
import json, sys
results = json.load(open(sys.argv[1], encoding="utf-8"))
assert results["format"] == "hierbar-bundle-1" and results["ended"] in ("complete", "time")
assert results["machine"]["topology"]["num_cpus"] >= 1
assert results["machine"]["caches"] is not None and results["latencies"]["classes"]
measured = [one for one in results["openmp"]["configurations"] if not one["unavailable"]]
libraries = {one["name"]: one["library"] for one in measured}
paths = {
    "hier": "lib/libomp.so",
    "stock-build": "stock/lib/libomp.so",
    "libgomp": "peers/libgomp/libgomp.so.1",
}
for name, path in paths.items():
    assert libraries[name] == path, (name, libraries)
samples = results["openmp"]["groups"][0]["series"]
assert {"hier", "stock-build", "libgomp", "floor"} <= {one["name"] for one in samples}, samples
decodes = results["openmp"]["groups"][1]["series"]
shares = {one["name"]: one["sync_share"] for one in decodes}
assert all(shares[name] for name in ("hier", "stock-build", "libgomp")), shares
END
check 'the file has the machine and the carried runtimes' succeeded

# Ctrl-C in the second repetition, as a terminal sends it to all of the group: once, or again and
# again until run_here.sh has ended.
interrupt() { # once|always
  rm -f "$results"
  run python3 - "$1" "$root/bundle/run_here.sh" "$results" <<'END'
import os, signal, subprocess, sys, threading
how, program, output = sys.argv[1:]
line = [program, "--output", output, "--", "--threads", "2", "--constructs", "barrier"]
process = subprocess.Popen(
    [*line, "--configs", "hier,hyper", "--reps", "1000"],
    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
)
for said in process.stderr:
    print(said, end="", flush=True)
    if "repetition" in said and "repetition 1 of" not in said:
        break
ended = threading.Event()
def press():
    os.killpg(process.pid, signal.SIGINT)
    while how == "always" and not ended.wait(0.005):
        os.killpg(process.pid, signal.SIGINT)
pressing = threading.Thread(target=press)
pressing.start()
os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its group stays
ended.set()
pressing.join()
print(process.communicate()[1])
sys.exit(process.returncode)
END
}
interrupt once
check 'Ctrl-C ends it with its own status' same_text "$status" 130
check 'it leaves what is there' exists "$results"
check 'and says how it ended' contains '"ended": "interrupted"' "$results"
check 'with figures' contains '"median":' "$results"
interrupt always # the second one ends the benchmark before it has written figures
check 'more of them do not end the shell between the parts' same_text "$status" 130
check 'the file is there then, too' exists "$results"
check 'and nothing else' is_missing "$results.parts"

finish
