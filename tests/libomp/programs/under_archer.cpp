// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Built with ThreadSanitizer, and run under Archer, LLVM's tool that tells ThreadSanitizer which
// threads OpenMP has ordered. Regions, joins, barriers and reductions order what the first case
// does; nothing orders the second one.

// BUILD: clang -fsanitize=thread
// NEEDS: native archer
// TEST: ordered
//   ENV: OMP_TOOL_LIBRARIES=$archer
//     TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66
//   CHECK: --counter fast==800 --counter ordinary==400 --reject ThreadSanitizer
// TEST: unordered
//   ENV: OMP_TOOL_LIBRARIES=$archer
//     TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66
//   CHECK: --exit-code 66 --expect-some "ThreadSanitizer: data race"

#include <omp.h>

#include <array>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumRegions = 200;
constexpr int kNumThreads = 4;
constexpr int kNumValues = 1000;

// Plain memory, so each access is watched.
std::array<int, kNumValues> values;
int written_by_one = 0;

void share_values(int region) {
#pragma omp for
  for (int i = 0; i < kNumValues; ++i) values[i] = i + region;
#pragma omp for
  for (int i = 0; i < kNumValues; ++i)
    CHECK_EQUAL(values[kNumValues - 1 - i], kNumValues - 1 - i + region);
}

void write_and_read(int region) {
#pragma omp barrier
  if (omp_get_thread_num() == 1) written_by_one = region;
#pragma omp barrier
  CHECK_EQUAL(written_by_one, region);
}

void ordered() {
  for (int region = 0; region < kNumRegions; ++region) {
    int sum = 0;
#pragma omp parallel num_threads(kNumThreads)
    {
      share_values(region);
      write_and_read(region);
    }
    values[0] += 1;  // what the region wrote, without a clause
#pragma omp parallel for num_threads(kNumThreads) reduction(+ : sum)
    for (int i = 0; i < kNumValues; ++i) sum += values[i];
    CHECK_EQUAL(sum, kNumValues * (kNumValues - 1) / 2 + kNumValues * region + 1);
  }
}

void unordered() {
  for (int region = 0; region < kNumRegions; ++region) {
#pragma omp parallel num_threads(kNumThreads)
    written_by_one += omp_get_thread_num();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv, {{"ordered", ordered}, {"unordered", unordered}});
}
