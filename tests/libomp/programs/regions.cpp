// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parallel regions of all kinds: serialized, nested, resized, started by several threads of the
// program. Run with hot teams on one level and on two.

// BUILD: clang
// BUILD: gcc
// TEST: serialized serialized_in_a_pooled_team nested nested_with_random_sizes default_size_storm
//     settings_reach_all_threads several_roots
//   CHECK: --counter phased>=10
// TEST (clang): defaults_set_while_a_team_works
//   CHECK: --counter phased>=10
// TEST hot_inner_teams (clang): serialized serialized_in_a_pooled_team nested
//     nested_with_random_sizes default_size_storm settings_reach_all_threads several_roots
//   ENV: KMP_HOT_TEAMS_MAX_LEVEL=2 $trees
//   CHECK: --counter phased>=10
// TEST hot_inner_teams (clang): inner_teams_change_their_root
//   ENV: KMP_HOT_TEAMS_MAX_LEVEL=2
// TEST kept_threads (clang): nested_with_random_sizes default_size_storm
//   ENV: KMP_HOT_TEAMS_MODE=1 KMP_BLOCKTIME=0
//   CHECK: --counter phased>=10

#include <omp.h>

#include <thread>
#include <vector>

#include "bench/common/random.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

// The oracle, short: every thread of the team that calls it.
void cross(long* slots, int num_crossings) {
  const int me = omp_get_thread_num();
  const int num_threads = omp_get_num_threads();
  for (int crossing = 1; crossing <= num_crossings; ++crossing) {
    slots[me] = crossing;
#pragma omp barrier
    for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(slots[i], crossing);
#pragma omp barrier
  }
}

void region(int num_threads, int num_crossings) {
  std::vector<long> slots(num_threads);
  long* const data = slots.data();
#pragma omp parallel num_threads(num_threads)
  {
    CHECK_EQUAL(omp_get_num_threads(), num_threads);
    cross(data, num_crossings);
  }
}

void serialized() {
  for (int round = 0; round < 200; ++round) {
    long slot = 0;
#pragma omp parallel if (0) firstprivate(slot)
    cross(&slot, 3);
#pragma omp parallel num_threads(4)
    {
      region(1, 2);
#pragma omp barrier
      long own = 0;
#pragma omp parallel if (0) firstprivate(own)
      {
        cross(&own, 2);
        region(1, 1);
      }
    }
#pragma omp barrier
  }
}

// The team structures of inner regions go to a pool when they end. New threads take structures from
// there for their serialized regions, in which nobody else ever arrives.
void serialized_in_a_pooled_team() {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  region(4, 2);
  for (int num_threads = 3; num_threads <= 12; ++num_threads) {
#pragma omp parallel num_threads(num_threads)
    region(1, 2);
  }
}

void nested() {
  omp_set_max_active_levels(3);
  for (int round = 0; round < 60; ++round) {
    const int outer = 2 + round % 3;
    std::vector<long> slots(outer);
    long* const data = slots.data();
#pragma omp parallel num_threads(outer)
    {
      region(2 + omp_get_thread_num() % 3, 3);
      cross(data, 2);
#pragma omp parallel num_threads(2)
      region(2, 2);
      cross(data, 1);
    }
  }
}

// All inner teams differ from round to round, in size and in who leads them.
void nested_with_random_sizes() {
  omp_set_max_active_levels(2);
  hierbar::test::Random random(7);
  for (int round = 0; round < 150; ++round) {
    const int outer = 1 + random.below(4);
    const std::uint64_t seed = random.next();
#pragma omp parallel num_threads(outer)
    {
      hierbar::test::Random own(seed + omp_get_thread_num());
      region(1 + own.below(5), own.below(4));
#pragma omp barrier
      region(1 + own.below(5), own.below(4));
    }
  }
}

// Outer regions shrink and grow between inner ones, and the default size changes while nothing runs
// and while something does.
void default_size_storm() {
  hierbar::test::Random random(11);
  for (int round = 0; round < 400; ++round) {
    const int size = 1 + random.below(16);
    omp_set_num_threads(size);
    int inner = 0;
#pragma omp parallel reduction(max : inner)
    {
      CHECK_EQUAL(omp_get_num_threads(), size);
#pragma omp barrier
      omp_set_num_threads(1 + (round + omp_get_thread_num()) % 3);
#pragma omp barrier
      inner = omp_get_num_threads();
    }
    CHECK_EQUAL(inner, size);
  }
}

// What the primary changes first thing in a region belongs to it alone: the others start with the
// values of the thread that opened the region.
void settings_reach_all_threads() {
  for (int round = 0; round < 400; ++round) {
    const int size = 2 + round % 15;
    omp_set_num_threads(100 + round);
#pragma omp parallel num_threads(size)
    {
      if (omp_get_thread_num() == 0)
        omp_set_num_threads(1);
      else
        CHECK_EQUAL(omp_get_max_threads(), 100 + round);
    }
  }
}

// Each thread of the program that opens regions is a root with a hot team of its own; some come and
// go.
void several_roots() {
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> roots;
    for (int root = 0; root < 4; ++root) {
      roots.emplace_back([root, round] {
        for (int i = 0; i < 40; ++i) region(1 + (root + i + round) % 6, 3);
      });
    }
    for (int i = 0; i < 20; ++i) region(2 + i % 4, 3);
    for (std::thread& root : roots) root.join();
  }
}

#ifndef _LIBGOMP_OMP_LOCK_DEFINED  // GCC's omp.h has no kmp_set_defaults
// kmp_set_defaults reads all settings again.
void defaults_set_while_a_team_works() {
  std::thread other([] { region(3, 2000); });
  for (int i = 0; i < 50; ++i) {
    char setting[] = "KMP_BLOCKTIME=20";
    kmp_set_defaults(setting);
    region(2, 20);
  }
  other.join();
}

extern "C" int __kmpc_in_parallel(void* location);

// A root's former worker keeps its inner team when it comes to another root. The threads of that
// team then belong to the new root as well, of which the answer tells.
void inner_teams_change_their_root() {
  const auto nest = [] {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(2)
    CHECK(__kmpc_in_parallel(nullptr));
  };
  std::thread([=] {
    nest();
    region(2, 1);  // gives two workers back
  }).join();
  nest();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"serialized", serialized},
                             {"serialized_in_a_pooled_team", serialized_in_a_pooled_team},
                             {"nested", nested},
                             {"nested_with_random_sizes", nested_with_random_sizes},
                             {"default_size_storm", default_size_storm},
                             {"settings_reach_all_threads", settings_reach_all_threads},
#ifndef _LIBGOMP_OMP_LOCK_DEFINED
                             {"defaults_set_while_a_team_works", defaults_set_while_a_team_works},
                             {"inner_teams_change_their_root", inner_teams_change_their_root},
#endif
                             {"several_roots", several_roots}});
}
