#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run_here.sh [--quick] [--output DIRECTORY] [-- OPTION...]
#
# Measures the barriers of OpenMP on this machine: hierbar's, LLVM's and GCC's, the share of
# synchronisation in a decode of a language model, and the physical floors. Nothing is installed, and nothing outside the output directory is written.
#
#   --quick       two minutes, with fewer repetitions; otherwise ten to thirty
#   --output      where the results go; default: hierbar-results in the current directory
#   OPTION        passed on to omp_barrier_bench; `bin/omp_barrier_bench --help` shows them
#
# results.json has the machine and every sample, and summary.txt what can be read. The machine
# should have nothing else to do.

set -eu
usage() { sed -n '5,/^$/s/^# \{0,1\}//p' "$0"; }
root=$(cd "$(dirname "$0")" && pwd)
output=hierbar-results
quick=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=--quick && shift ;;
    --output) output=${2:?--output needs a directory} && shift 2 ;;
    --) shift && break ;;
    -h | --help) usage && exit 0 ;;
    *)
      allowed='--quick, --output DIRECTORY, -- OPTION...'
      echo "run_here.sh: unknown argument '$1'; allowed: $allowed" >&2
      exit 2
      ;;
  esac
done
mkdir -p "$output"

for peer in libgomp libomp; do
  for file in "$root/peers/$peer"/*; do
    [ ! -f "$file" ] || set -- "--peer-$peer" "$file" "$@"
  done
done

"$root/bin/hierbar" topo --json >"$output/topology.json"
"$root/bin/hierbar" topo | tee "$output/summary.txt"
status=0
# A failed target (status 1, with --check) is a result.
"$root/bin/omp_barrier_bench" --stock-dir "$root/stock/lib" \
  --json "$output/barriers.json" $quick "$@" \
  >"$output/barriers.txt" || status=$?
cat "$output/barriers.txt"
[ "$status" -le 1 ] || exit "$status"
cat "$output/barriers.txt" >>"$output/summary.txt"

processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 | tr -d '"\\')
{
  printf '{"bundle": "%s", "processor": "%s", "kernel": "%s",\n"topology": ' \
    "${root##*/}" "$processor" "$(uname -r)"
  cat "$output/topology.json"
  printf ',\n"barriers": '
  cat "$output/barriers.json"
  printf '}\n'
} >"$output/results.json"
rm "$output/topology.json" "$output/barriers.json" "$output/barriers.txt"
printf '\nThe results are in %s/results.json, a readable summary in %s/summary.txt.\n' \
  "$output" "$output"
