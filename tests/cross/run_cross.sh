#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds the tests that need no hwloc for AArch64 and runs them under qemu-user: the preset
# `aarch64`, with its tools checked.
#   run_aarch64.sh [<build directory>]      default: build/aarch64
# It shows that the code builds and works there; an emulator on x86 says nothing about weak memory.
set -eu

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build_dir=${1:-$source_dir/build/aarch64}

for tool in "aarch64-linux-gnu-g++ g++-aarch64-linux-gnu" "qemu-aarch64 qemu-user" \
  "ninja ninja-build"; do
  command -v "${tool%% *}" >/dev/null || {
    echo "run_aarch64.sh: ${tool%% *} not found (Debian: ${tool##* })" >&2
    exit 1
  }
done
if [ ! -e /usr/src/googletest/CMakeLists.txt ]; then
  echo "run_aarch64.sh: /usr/src/googletest not found (Debian: googletest)" >&2
  exit 1
fi

cd "$source_dir"
cmake --preset aarch64 -B "$build_dir"
cmake --build "$build_dir" --parallel "$(nproc)"
ctest --test-dir "$build_dir" --output-on-failure --no-tests=error
