#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run_here.sh [--seconds N | --quick] [--output FILE] [-- OPTION...]
#
# Measures the barriers of OpenMP on this machine: hierbar's, LLVM's and GCC's, the share of
# synchronisation in a decode of a language model, the physical floors, and the latency of cache
# lines. It takes less than five minutes, needs neither root nor a compiler, installs nothing, and
# writes one file.
#
#   --seconds N   end after about so many seconds, 30 at least; default: 280. More give more
#                 repetitions: 1800 for publication
#   --quick       as --seconds 110
#   --output      the file; default: hierbar-results.json in the current directory
#   OPTION        passed on to omp_barrier_bench; `bin/omp_barrier_bench --help` shows them
#
# The file has the machine's shape, versions and figures. It has no names of hosts or users, no
# paths and no serial numbers. README.txt says where to send it.
#
# The machine should have nothing else to do. Ctrl-C ends it early: the file then has what was
# measured until then.
#
# Exit status: 0 measured; 2 wrong arguments, or nothing can be measured here; 130 Ctrl-C

set -eu
usage() { sed -n '5,/^$/s/^# \{0,1\}//p' "$0"; }
say() { echo "run_here.sh: $*" >&2; }
fail() { say "$@" && exit 2; }
uptime_s() { read -r up rest </proc/uptime && echo "${up%.*}"; }

root=$(cd "$(dirname "$0")" && pwd)
output=hierbar-results.json
seconds=280
while [ $# -gt 0 ]; do
  case $1 in
    --quick) seconds=110 && shift ;;
    --seconds) seconds=${2:?--seconds needs a number} && shift 2 ;;
    --output) output=${2:?--output needs a file} && shift 2 ;;
    --) shift && break ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown argument '$1'; allowed: --seconds N, --quick, --output FILE, -- OPTION..." ;;
  esac
done
case $seconds in
  '' | *[!0-9]*) fail "--seconds: '$seconds'; allowed: a number of 30 or more" ;;
esac
[ "$seconds" -ge 30 ] || fail "--seconds: '$seconds'; allowed: a number of 30 or more"
[ ! -e "$output" ] || fail "$output is there already; --output names another file"

# 1. Whether it can run here at all.
[ -r /proc/uptime ] || fail '/proc is not mounted here, and without it nothing can be measured'
start=$(uptime_s)
bundled=$(cat "$root/processor")
if ! "$root/bin/bundle_results" --help >/dev/null 2>&1; then
  "$root/bin/bundle_results" --help >/dev/null || true # which shows why
  fail "its programs do not start here. They are for $bundled, and this is $(uname -m) with Linux" \
    "$(uname -r); they need Linux 3.2, and a directory that is not mounted noexec"
fi
parts=$output.parts
mkdir "$parts" || fail "$parts cannot be made; --output names a file in another directory"
trap 'trap "" INT TERM HUP; rm -rf "$parts"' EXIT
interrupted=
trap 'interrupted=--interrupted' INT TERM HUP

# The settings of the user are not those of others.
for name in $(set | sed -n 's/^\(HIERBAR_[A-Z_]*\)=.*/\1/p; s/^\(HWLOC_[A-Z_]*\)=.*/\1/p'); do
  unset "$name"
done
export HIERBAR_PROFILE=off

# 2. The machine: its tree, what limits it, and the latency of lines.
echo "hierbar $(cat "$root/version") for $bundled, with its own C library; $seconds seconds at most"
"$root/bin/hierbar" topo --json >"$parts/topology.json" || say 'the tree cannot be read'
"$root/bin/hierbar" topo || true
sizes=$("$root/bin/bundle_results" plan) || exit 2
load=$("$root/bin/bundle_results" load)
say "1 of 2: the latency of cache lines, at most $((seconds / 10)) seconds"
"$root/bin/hierbar" tune --participants 2 --time-limit $((seconds / 10)) --json \
  --output "$parts/profile.json" >"$parts/latencies.json" ||
  [ -n "$interrupted" ] || say 'the latencies are missing'

# 3. The barriers. Options of the user replace ours.
ours="--reps 20 --budget-ms 40 --timeout 10 --wait $((seconds / 10)) --brief"
case " $* " in *' --threads '*) ;; *) ours="$ours --threads $sizes" ;; esac
case " $* " in
  *' --constructs '*) ;;
  *) ours="$ours --constructs barrier,isolated,parallel,reduction,decode,decode-regions" ;;
esac
for option in --reps --budget-ms --timeout --wait; do
  case " $* " in
    *" $option "*) ours=$(echo " $ours " | sed "s/ $option [0-9]* / /") ;;
  esac
done
for peer in libgomp libomp; do
  for file in "$root/peers/$peer"/*; do
    [ ! -f "$file" ] || set -- "--peer-$peer" "$file" "$@"
  done
done
status=0
left=$((start + seconds - $(uptime_s) - 3))
[ "$left" -ge 5 ] || left=5
if [ -z "$interrupted" ]; then
  say "2 of 2: barriers, at most $left seconds"
  # shellcheck disable=SC2086 # several options in one variable
  "$root/bin/omp_barrier_bench" --stock-dir "$root/stock/lib" --json "$parts/openmp.json" \
    --time-limit $((left - left / 8)) --stop-after "$left" $ours "$@" || status=$?
fi

# 4. One file. A failed target (status 1, with --check) is a result; above 128 it was stopped. It
# takes no second, and another Ctrl-C would lose all that was measured.
trap '' INT TERM HUP
[ "$status" -le 128 ] || interrupted=--interrupted
if "$root/bin/bundle_results" join --parts "$parts" --output "$output" --load-before "$load" \
  $interrupted; then
  echo "The results are in $output. README.txt says where to send them."
elif [ "$status" -le 1 ]; then
  status=2
fi
[ -z "$interrupted" ] || exit 130
[ "$status" -le 1 ] || exit 2
