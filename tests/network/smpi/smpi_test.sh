#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# smpi_test.sh RANKS [BUILD_DIRECTORY]
#
# The schedules of meetings in SimGrid's SMPI, which simulates so many ranks in one process: whether
# their times there are in the order that the model says, and whether the model's choice is good. On
# an InfiniBand and on an Ethernet of simple costs, which the platform and SMPI's overheads are set
# to; by default SMPI has no overheads. 256 ranks take some seconds. 1024 take 1 GB. They take some
# minutes on the InfiniBand, and more than 40 on the Ethernet, where each wait has more polls to
# simulate. The program is compiled here, by smpicxx, from the shim's source. Exit status: 77
# without SimGrid (Debian: libsimgrid-dev).
set -euo pipefail
ranks=${1?how many ranks}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
build=${2:-$root/build/release}
command -v smpicxx smpirun >/dev/null || {
  echo 'skipped: no smpicxx here (Debian: libsimgrid-dev)'
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

smpicxx -std=c++20 -O2 -I"$root" -I"$root/runtime" "$here/smpi_meetings.cpp" \
  "$root/mpi/between/schedule_runner.cpp" -o "$work/smpi_meetings" \
  "$build/runtime/libhierbar_network.a" "$build/runtime/libhierbar_base.a"

# run L O_S O_R, in us. A message crosses two links, without factors by its size. Polls are a
# twelfth of L apart: closer ones take longer to simulate. There is no gap in SMPI.
run() {
  local link poll
  link=$(awk "BEGIN { print $1 / 2 }")
  poll=$(awk "BEGIN { print $1 / 12 }")
  cat >"$work/platform.xml" <<END
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node" suffix="" radical="0-$((ranks - 1))" speed="1Gf"
           bw="12.5GBps" lat="${link}us"/>
</platform>
END
  for ((i = 0; i < ranks; ++i)); do echo "node$i"; done >"$work/hosts"
  echo "L $1, o_s $2, o_r $3 us, $ranks ranks"
  smpirun -np "$ranks" -platform "$work/platform.xml" -hostfile "$work/hosts" \
    --log=root.thresh:error \
    --cfg=smpi/simulate-computation:no --cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:1 \
    --cfg=smpi/os:"0:${2}e-6:0" --cfg=smpi/ois:"0:${2}e-6:0" --cfg=smpi/or:"0:${3}e-6:0" \
    --cfg=smpi/test:0 \
    "$work/smpi_meetings" "L=$1,o_s=$2,o_r=$3,g=0" "$poll"
}
run 1.2 0.3 0.5
run 18 3 4
