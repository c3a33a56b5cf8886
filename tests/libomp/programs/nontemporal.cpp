// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Non-temporal stores are weakly ordered on x86: a plain store can overtake them. Compilers emit
// them for large arrays and call the barrier without a fence, so the barrier's arrival must drain
// them.

// BUILD: clang
// NEEDS: native
// TEST: stores_before_a_barrier_are_visible_after_it
//   CHECK: --counter fast>=20000

#include <omp.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdlib>

#include "tests/libomp/programs/check.hpp"

#if defined(__x86_64__)

namespace {

constexpr int kWords = 256;  // per thread: 32 lines, more than the processor's fill buffers

void check_team(int num_threads, int episodes) {
  auto* const words =
      static_cast<long long*>(std::aligned_alloc(64, sizeof(long long) * kWords * num_threads));
  CHECK(words != nullptr);
#pragma omp parallel num_threads(num_threads)
  {
    const int me = omp_get_thread_num();
    long long* const own = words + me * kWords;
    const long long* const other = words + (me + 1) % num_threads * kWords;
    for (int episode = 1; episode <= episodes; ++episode) {
      for (int i = 0; i < kWords; ++i) _mm_stream_si64(own + i, episode);
#pragma omp barrier
      // The last ones first: they are the most likely to be still on their way.
      for (int i = kWords - 1; i >= 0; --i) CHECK_EQUAL(other[i], episode);
#pragma omp barrier
    }
  }
  std::free(words);
}

void stores_before_a_barrier_are_visible_after_it() {
  check_team(2, 20000);
  for (int num_threads : {3, 5, 8}) check_team(num_threads, 500);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"stores_before_a_barrier_are_visible_after_it",
                              stores_before_a_barrier_are_visible_after_it}});
}

#else

int main() {
  std::puts("skipped: only x86 has stores that a plain store overtakes on the same thread");
  return omp_test::kSkipped;
}

#endif
