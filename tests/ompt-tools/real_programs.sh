#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# real_programs.sh [BUILD_DIR [OUT_DIR]]: runs real OpenMP programs on hierbar's libomp under
# libhierbar_ompt.so, and writes their reports to OUT_DIR as text, JSON and, if the hierbar command
# can, HTML.
#
#   numpy                matrix products and factorisations of Debian's python3-numpy with
#                        libopenblas0-openmp, built by GCC: its libgomp.so.1 is hierbar's
#   fasttree             the OpenMP program of Debian's source package fasttree, built here by Clang
#                        (no program of Debian 12 needs libomp). Its archive,
#                        fasttree_*.orig.tar.xz, is looked for in the directory that
#                        HIERBAR_SOURCES names, then asked of apt
#   conjugate_gradient   conjugate_gradient.cpp, built here by Clang
#
# BUILD_DIR: default build/release. OUT_DIR: default real-programs, in the current directory. OMP_*
# variables are passed on; without OMP_PLACES threads are bound to cores. Not a test of `ctest`: it
# is for looking at, on a quiet machine.
# Exit status: 0 all that are here ran and were reported, 1 one failed, 2 wrong arguments or nothing
# to run.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() { sed -n '5,18s/^# \{0,1\}//p' "$0"; }
refuse() { printf 'real_programs.sh: %s\n' "$1" >&2 && exit 2; }

case ${1:-} in
  -h | --help) usage && exit 0 ;;
  -*) refuse "unknown option '$1'" ;;
esac
(($# <= 2)) || refuse "a build directory and one for the reports, not $# arguments"
build=${1:-$here/../../build/release}
for file in lib/libgomp.so.1 lib/libomp.so lib/libhierbar_ompt.so bin/hierbar; do
  [[ -e $build/$file ]] || refuse "no $file in '$build': build it first"
done
build=$(cd "$build" && pwd)
out=${2:-real-programs}
mkdir -p "$out" && out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

status=0 count=0
# watch NAME COMMAND...: COMMAND under the tool.
watch() {
  local name=$1
  shift
  printf '==> %s\n' "$name"
  rm -f "$out/$name".*
  if LD_LIBRARY_PATH=$build/lib KMP_BARRIER=hier OMP_PLACES=${OMP_PLACES:-cores} \
    OMP_TOOL_LIBRARIES=$build/lib/libhierbar_ompt.so \
    HIERBAR_REPORT=text,json HIERBAR_OUTPUT=$out/$name "$@" && [[ -s $out/$name.txt && -s \
      $out/$name.json ]]; then
    count=$((count + 1))
  else
    printf 'real_programs.sh: %s failed, or was not reported\n' "$name" >&2
    status=1
    return
  fi
  if [[ $("$build/bin/hierbar" report --help) == *--html* ]]; then
    "$build/bin/hierbar" report "$out/$name.json" --html "$out/$name.html" >/dev/null || status=1
  fi
}

cat >"$scratch/matrices.py" <<'EOF'
import sys
import numpy
names = "openblas", "libomp", "libgomp"
maps = open("/proc/self/maps")
served = {line.split()[-1] for line in maps if any(name in line for name in names)}
if not any("openblas-openmp" in file for file in served):
    sys.exit("numpy does not use libopenblas0-openmp "
             "(update-alternatives --config libblas.so.3-x86_64-linux-gnu chooses it)")
random = numpy.random.default_rng(1)
for side in (64, 256, 512):
    a = random.random((side, side))
    for _ in range(20):
        product = a @ a.T
        factor = numpy.linalg.cholesky(product + side * numpy.eye(side))
        error = abs(factor @ factor.T - product - side * numpy.eye(side)).max() / side
    print(f"side {side}: error {error:.1e}")
    assert error < 1e-9
EOF
python=/usr/bin/python3 # another one has another numpy, with libraries of its own
if "$python" -c 'import numpy' 2>/dev/null && [[ -e $("$python" -c \
  'import glob; print(*glob.glob("/usr/lib/*/openblas-openmp/libblas.so.3")[:1])') ]]; then
  watch numpy "$python" "$scratch/matrices.py"
else
  printf 'Left out: numpy (apt install python3-numpy libopenblas0-openmp)\n'
fi

clang=$(command -v clang++-19 clang++ | head -n 1 || true)

# Prints the path of fasttree's archive.
find_fasttree() {
  local archives=("${HIERBAR_SOURCES:-$scratch}"/fasttree_*.orig.tar.xz)
  if [[ ! -e ${archives[0]} ]]; then
    (cd "$scratch" && apt-get source -qq --download-only --tar-only fasttree) >/dev/null 2>&1 || \
      return 1
    archives=("$scratch"/fasttree_*.orig.tar.xz)
  fi
  [[ -e ${archives[0]} ]] && printf '%s\n' "${archives[0]}"
}

build_fasttree() {
  local archive
  archive=$(find_fasttree) && mkdir "$scratch/fasttree" &&
    tar --extract --file="$archive" --directory="$scratch/fasttree" --strip-components=1 &&
    "$clang" -x c -DOPENMP -O3 -fopenmp "$scratch/fasttree/fasttree.c" \
      -o "$scratch/fasttree/fasttree" -lm
}

cat >"$scratch/alignment.py" <<'EOF'
import random
random.seed(1)
genes = ["".join(random.choices("ACGT", k=600))]
while len(genes) < 400:
    gene = random.choice(genes)
    genes.append("".join(random.choice("ACGT") if random.random() < 0.03 else base
                         for base in gene))
for number, gene in enumerate(genes):
    print(f">species{number}\n{gene}")
EOF
if [[ $clang ]] && build_fasttree; then
  "$python" "$scratch/alignment.py" >"$scratch/alignment.fasta"
  watch fasttree "$scratch/fasttree/fasttree" -quiet -nt -gtr -out "$scratch/tree.newick" \
    "$scratch/alignment.fasta"
else
  printf "Left out: fasttree (apt install clang-19 libomp-19-dev, and a deb-src line for apt %s)\n" \
    "or the archive in HIERBAR_SOURCES"
fi

if [[ $clang ]] && "$clang" -std=c++20 -O2 -fopenmp "$here/conjugate_gradient.cpp" \
  -o "$scratch/conjugate_gradient"; then
  watch conjugate_gradient "$scratch/conjugate_gradient"
else
  printf 'Left out: conjugate_gradient (apt install clang-19 libomp-19-dev)\n'
fi

((count + status)) || refuse 'nothing to run'
printf 'Reports of %d programs in %s\n' "$count" "$out"
exit "$status"
