// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle: each thread writes its own slot, crosses, reads all slots, crosses again. The
// slots are plain variables, so the compiler and the processor may do with them what they do with
// any program's data.

// BUILD: clang
// BUILD: gcc
// TEST (clang): large_teams
//   CHECK: --counter fast==480 --counter phased==4
// TEST (clang): padded_slots packed_slots changing_sizes alternating_sizes
//   CHECK: --counter fast>=1000 --counter slow==0 --counter stock==0
// TEST trees (clang): padded_slots packed_slots changing_sizes alternating_sizes
//   ENV: $trees
//   CHECK: --counter fast>=1000
// That these settings lead to trees, here and elsewhere:
// TEST trees (clang): eight_threads
//   ENV: $trees
//   CHECK: --expect "leaders +.0,4.$" --expect "release 1 .flags."
// TEST lines (clang): eight_threads
//   ENV: $lines
//   CHECK: --expect "leaders +.0,4.$" --expect "release 1 .lines."
// TEST lines (clang): padded_slots changing_sizes
//   ENV: $lines
//   CHECK: --counter fast>=1000
// TEST blocktime_0 (clang): changing_sizes
//   ENV: $trees KMP_BLOCKTIME=0
//   CHECK: --counter fast>=1000
// TEST (gcc): padded_slots packed_slots changing_sizes alternating_sizes
//   CHECK: --counter fast>=1000
// TEST (clang): four_threads
//   NAME: tool
//   ENV: OMP_TOOL_LIBRARIES=$program_dir/counting_tool.so
//   CHECK: --counter fast>=1000 --expect "explicit barriers: 4000 begins, 4000 ends"
//     --expect "explicit barrier waits: 4000 begins, 4000 ends"
//     --expect "parallel ends: 4 begins, 4 ends"

#include <omp.h>

#include <vector>

#include "bench/common/random.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 16;
constexpr int kEpisodes = 250;

// kStride: slots on lines of their own, or many on one line, whose writers then fight for it until
// they arrive.
template <class Slot, int kStride>
void check_team(int num_threads, int episodes) {
  std::vector<Slot> slots(num_threads * kStride);
  Slot* const slot = slots.data();
#pragma omp parallel num_threads(num_threads)
  {
    CHECK_EQUAL(omp_get_num_threads(), num_threads);
    const int me = omp_get_thread_num();
    for (int episode = 1; episode <= episodes; ++episode) {
      slot[me * kStride] = static_cast<Slot>(episode + me);
#pragma omp barrier
      for (int i = 0; i < num_threads; ++i)
        CHECK_EQUAL(slot[i * kStride], static_cast<Slot>(episode + i));
#pragma omp barrier
    }
    slot[me * kStride] = static_cast<Slot>(-me - 1);
  }
  for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(slot[i * kStride], static_cast<Slot>(-i - 1));
}

template <class Slot, int kStride>
void every_size() {
  for (int num_threads = 2; num_threads <= kMaxThreads; ++num_threads)
    check_team<Slot, kStride>(num_threads, kEpisodes);
}

void padded_slots() { every_size<long, 16>(); }

void packed_slots() { every_size<unsigned char, 1>(); }

// Above 16 threads even a team in one place has groups.
void large_teams() {
  for (int num_threads : {17, 20, 33, 64}) check_team<long, 16>(num_threads, 60);
}

// One team and 1000 barriers, for those who count or look at the plan.
void four_threads() { check_team<long, 16>(4, 500); }
void eight_threads() { check_team<long, 16>(8, 500); }

// The team changes its size between regions, so that plans and lines are made, kept, and made
// again, and threads that come back meet lines which went on without them.
void changing_sizes() {
  hierbar::test::Random random(1);
  for (int region = 0; region < 600; ++region)
    check_team<long, 16>(1 + random.below(kMaxThreads), 1 + random.below(8));
}

// Odd and even numbers of episodes between two regions of the same size: each must find the words
// where the last one left them.
void alternating_sizes() {
  constexpr int kSizes[] = {2, 8, 3, 16};
  for (int region = 0; region < 400; ++region) check_team<long, 16>(kSizes[region % 4], region % 5);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"padded_slots", padded_slots},
                             {"large_teams", large_teams},
                             {"four_threads", four_threads},
                             {"eight_threads", eight_threads},
                             {"packed_slots", packed_slots},
                             {"changing_sizes", changing_sizes},
                             {"alternating_sizes", alternating_sizes}});
}
