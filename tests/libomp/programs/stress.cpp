// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Everything in random order: team sizes, nesting, other roots, tasks, cancellation, late threads,
// blocktimes, pauses.
//
//   HIERBAR_STRESS_SECONDS   how long; 20 when not set
//   HIERBAR_STRESS_SEED      which order; random when not set. The seed is printed. It fixes the
//                            steps, not the scheduling.
//
// A watchdog reports a step that makes no progress for 30 s, with the stacks when gdb is there, and
// aborts.

// BUILD: clang
// Three runs, each of HIERBAR_STRESS_SECONDS: one minute. .ci/run makes them shorter, .ci/long ten
// minutes long. The limits below are only for a machine that stops the program altogether.
// TEST: -
//   ARGS: -
//   CHECK: --counter fast>=1000
//   RUN: label=stress timeout=7200
// TEST: trees
//   ARGS: -
//   ENV: $trees KMP_BLOCKTIME=0
//   CHECK: --counter fast>=1000
//   RUN: label=stress timeout=7200
// TEST: cancellation
//   ARGS: -
//   ENV: $lines OMP_CANCELLATION=true
//   CHECK: --counter phased>=1000
//   RUN: label=stress timeout=7200

#include <omp.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"
#include "tests/support/draw_by_weight.hpp"

namespace {

using hierbar::test::Random;
using Clock = std::chrono::steady_clock;

constexpr int kMaxThreads = 16;

// ---- the steps; each checks its results ----

// Now and then a thread is late, by more or less than the blocktime.
void maybe_be_late(Random& random) {
  if (random.one_in(40)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
}

void barriers_of_this_team(long* slots, std::uint64_t seed, int num_crossings) {
  const int me = omp_get_thread_num();
  const int size = omp_get_num_threads();
  Random random(seed + me);
  for (int crossing = 1; crossing <= num_crossings; ++crossing) {
    slots[me] = crossing;
    maybe_be_late(random);
#pragma omp barrier
    for (int i = 0; i < size; ++i) CHECK_EQUAL(slots[i], crossing);
#pragma omp barrier
  }
}

void barriers(Random& random) {
  const int size = 1 + random.below(kMaxThreads);
  const int num_crossings = random.below(30);
  const std::uint64_t seed = random.next();
  std::vector<long> slots(size);
  long* const data = slots.data();
#pragma omp parallel num_threads(size)
  barriers_of_this_team(data, seed, num_crossings);
}

void nested(Random& random) {
  const int outer = 2 + random.below(3);
  const std::uint64_t seed = random.next();
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
  {
    Random own(seed + omp_get_thread_num());
    barriers(own);
#pragma omp barrier
    if (own.one_in(2)) barriers(own);
  }
}

void default_sizes(Random& random) {
  for (int i = 0; i < 10; ++i) {
    const int size = 1 + random.below(kMaxThreads);
    omp_set_num_threads(size);
    std::atomic<int> count{0};
#pragma omp parallel
    ++count;
    CHECK_EQUAL(count.load(), size);
  }
}

void worksharing(Random& random) {
  const int size = 1 + random.below(kMaxThreads);
  long sum = 0;
  int singles = 0;
#pragma omp parallel num_threads(size)
  for (long round = 1; round <= 10; ++round) {
    int message = 0;
#pragma omp single copyprivate(message)
    message = ++singles;
    CHECK_EQUAL(message, round);
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    CHECK_EQUAL(sum, 4950 * round);
#pragma omp barrier
  }
}

void tasks(Random& random) {
  const int size = 2 + random.below(kMaxThreads - 1);
  const int producer = random.below(size);
  const bool opens_region = random.one_in(3);
  const std::uint64_t seed = random.next();
  omp_set_max_active_levels(2);
  std::atomic<int> done{0};
#pragma omp parallel num_threads(size)
  {
    Random own(seed + omp_get_thread_num());
    for (int round = 1; round <= 5; ++round) {
      if (omp_get_thread_num() == producer) {
        for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done) if (i % 4 != 0)
          {
#pragma omp task shared(done)
            ++done;
            if (opens_region && i == 5) {
#pragma omp parallel num_threads(2)
              {
#pragma omp barrier
              }
            }
          }
        }
        if (own.one_in(3)) {
#pragma omp taskwait
        }
      }
      maybe_be_late(own);
#pragma omp barrier
      CHECK_EQUAL(done.load(), 10 * round);
#pragma omp barrier
    }
  }
}

void detached_task(Random& random) {
  const int size = 2 + random.below(kMaxThreads - 1);
  const int delay_us = random.below(2000);
  std::thread outside;
  std::atomic<bool> fulfilled{false};
#pragma omp parallel num_threads(size)
  {
#pragma omp single nowait
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(outside, fulfilled)
      outside = std::thread([event, delay_us, &fulfilled] {
        std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        fulfilled = true;
        omp_fulfill_event(event);
      });
    }
#pragma omp barrier
    // A team that got one thread only, because the limit was reached, is serial: stock libomp does
    // not always wait there.
    CHECK(fulfilled.load() || omp_get_num_threads() == 1);
  }
  outside.join();
}

void cancellation(Random& random) {
  const int size = 1 + random.below(kMaxThreads);
  const int canceller = random.below(size);
  const std::uint64_t seed = random.next();
  std::atomic<int> past{0};
#pragma omp parallel num_threads(size)
  {
    Random own(seed + omp_get_thread_num());
    maybe_be_late(own);
#pragma omp task shared(past)
    past += 0;
    if (omp_get_thread_num() == canceller) {
#pragma omp cancel parallel
    }
#pragma omp barrier
    ++past;
  }
  CHECK_EQUAL(past.load(), omp_get_cancellation() ? 0 : size);
}

void teams(Random& random) {
  const int num_teams = 1 + random.below(3), size = 1 + random.below(4);
  std::atomic<int> count{0}, leagues{0};
#pragma omp teams num_teams(num_teams) thread_limit(4)
  {
    ++leagues;
#pragma omp parallel num_threads(size)
    {
#pragma omp barrier
#pragma omp master
      ++count;
    }
  }
  CHECK_EQUAL(count.load(), leagues.load());
}

void blocktime(Random& random) {
  constexpr int kBlocktimesMs[] = {0, 0, 1, 5, 200};
  kmp_set_blocktime(kBlocktimesMs[random.below(std::size(kBlocktimesMs))]);
  barriers(random);
  if (random.one_in(4)) std::this_thread::sleep_for(std::chrono::milliseconds(random.below(10)));
}

void pause(Random& random) {
  const omp_pause_resource_t kind = random.one_in(8) ? omp_pause_hard : omp_pause_soft;
  CHECK_EQUAL(omp_pause_resource(kind, omp_get_initial_device()), 0);
  barriers(random);
}

// Without tasks: libomp 22 itself hangs or crashes when roots that made tasks end and their workers
// serve others.
void several_roots(Random& random) {
  std::vector<std::thread> roots;
  for (int root = 0; root < 3; ++root) {
    roots.emplace_back([seed = random.next()] {
      Random own(seed);
      for (int i = 0; i < 5; ++i) own.one_in(3) ? worksharing(own) : barriers(own);
    });
  }
  for (int i = 0; i < 5; ++i) worksharing(random);
  for (std::thread& root : roots) root.join();
}

struct Step {
  const char* name;
  void (*run)(Random&);
  int weight;
};
constexpr Step kSteps[] = {{"barriers", barriers, 8},
                           {"nested", nested, 3},
                           {"default_sizes", default_sizes, 4},
                           {"worksharing", worksharing, 4},
                           {"tasks", tasks, 6},
                           {"detached_task", detached_task, 3},
                           {"cancellation", cancellation, 5},
                           {"teams", teams, 3},
                           {"blocktime", blocktime, 4},
                           {"pause", pause, 1},
                           {"several_roots", several_roots, 1}};

// ---- the watchdog ----

std::atomic<long> num_steps{0};
std::atomic<const char*> current_step{"start"};

void watch(std::uint64_t seed) {
  const auto start = Clock::now();
  auto last_change = start, last_report = start;
  for (long last_seen = -1;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto now = Clock::now();
    const auto since = [&](Clock::time_point time) {
      return static_cast<int>((now - time) / std::chrono::seconds(1));
    };
    if (num_steps.load() != last_seen) {
      last_seen = num_steps.load();
      last_change = now;
    }
    if (since(last_report) >= 10) {
      last_report = now;
      std::printf("%d s, %ld steps\n", since(start), last_seen);
      std::fflush(stdout);
    }
    if (since(last_change) >= 30) {
      std::fprintf(stderr, "no progress for 30 s in step %ld, %s; seed %llu\n", last_seen + 1,
                   current_step.load(), static_cast<unsigned long long>(seed));
      omp_test::show_stacks();
      std::abort();
    }
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace

int main() {
  const auto duration = std::chrono::seconds(number_from("HIERBAR_STRESS_SECONDS", 20));
  const std::uint64_t seed = number_from("HIERBAR_STRESS_SEED", std::random_device()());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  omp_set_dynamic(0);
  std::thread(watch, seed).detach();
  Random random(seed);
  for (const auto end = Clock::now() + duration; Clock::now() < end; ++num_steps) {
    const Step& step = hierbar::test::draw_by_weight(random, kSteps);
    current_step = step.name;
    step.run(random);
  }
  std::printf("%ld steps\n", num_steps.load());
}
