#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   without_cxx_library_test.sh SOURCE_DIR COMPILER...
#
# What libomp includes of the engine needs no C++ library: libomp is linked as a C library is, and
# most programs that load it are in C. Each COMPILER that is there compiles it as LLVM's build does.
set -eu
source_dir=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include "%s"\n' barrier/barrier.hpp barrier/real_mem.hpp barrier/waiting.hpp \
  base/membarrier.hpp >"$work/headers.cpp"
cat >>"$work/headers.cpp" <<'END'
extern "C" void publish(std::atomic<std::uint64_t>& word) { hierbar::publish(word, 1); }
END
status=0
num_tried=0
for compiler in "$@"; do
  command -v "$compiler" >/dev/null || continue
  num_tried=$((num_tried + 1))
  "$compiler" -std=c++17 -O2 -fPIC -fno-exceptions -fno-rtti -I"$source_dir/runtime" \
    -c "$work/headers.cpp" -o "$work/headers.o"
  if nm --undefined-only "$work/headers.o" | grep -E ' (__cxa_|__gxx_|_Z)'; then
    echo "FAILED: $compiler: these are in the C++ library"
    status=1
  fi
done
((num_tried > 0)) || { echo "FAILED: no compiler is here" && exit 1; }
exit $status
