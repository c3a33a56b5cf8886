// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Worksharing constructs for which GCC asks the runtime for memory that the team shares: scans and
// lastprivate(conditional:).

// GCC 12 says of variables in lastprivate(conditional:) that they may be used uninitialized.
// BUILD: gcc -Wno-maybe-uninitialized
// TEST: scan conditional_lastprivate without_waiting in_inner_teams
//   CHECK: --counter fast>=100
// TEST: inside_another_one
//   CHECK: --counter phased>=40
// TEST trees: scan without_waiting
//   ENV: $trees KMP_BLOCKTIME=0
//   CHECK: --counter fast>=100
// TEST: after_a_cancelled_region
//   ENV: OMP_CANCELLATION=true
//   CHECK: --counter phased>=400
// TEST stock_pattern: after_a_cancelled_region
//   ENV: KMP_BARRIER OMP_CANCELLATION=true
// TEST: fork_beside_constructs
//   ENV: KMP_WARNINGS=off

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 6;
constexpr int kCount = 300;

void scan() {
  for (int round = 0; round < 100; ++round) {
    long sum = 0, sums[kCount], before[kCount];
#pragma omp parallel num_threads(1 + round % kMaxThreads)
    {
#pragma omp for reduction(inscan, + : sum)
      for (int i = 0; i < kCount; ++i) {
        sum += i + round;
#pragma omp scan inclusive(sum)
        sums[i] = sum;
      }
#pragma omp for reduction(inscan, + : sum)
      for (int i = 0; i < kCount; ++i) {
        before[i] = sum;
#pragma omp scan exclusive(sum)
        sum += 1;
      }
    }
    long expected = 0;
    for (int i = 0; i < kCount; ++i) {
      expected += i + round;
      CHECK_EQUAL(sums[i], expected);
    }
    for (int i = 0; i < kCount; ++i) CHECK_EQUAL(before[i], expected + i);
    CHECK_EQUAL(sum, expected + kCount);
  }
}

void conditional_lastprivate() {
  for (int round = 0; round < 100; ++round) {
    int by_static = -1, by_dynamic = -1, by_sections = -1;
#pragma omp parallel num_threads(1 + round % kMaxThreads)
    {
#pragma omp for lastprivate(conditional : by_static)
      for (int i = 0; i < kCount; ++i) {
        if (i % 7 == round % 7) by_static = i;
      }
#pragma omp for schedule(dynamic, 3) lastprivate(conditional : by_dynamic)
      for (int i = 0; i < kCount; ++i) {
        if (i <= round) by_dynamic = i;
      }
#pragma omp sections lastprivate(conditional : by_sections)
      {
#pragma omp section
        by_sections = 1;
#pragma omp section
        if (round % 2) by_sections = 2;
      }
    }
    int expected = -1;
    for (int i = 0; i < kCount; ++i) expected = i % 7 == round % 7 ? i : expected;
    CHECK_EQUAL(by_static, expected);
    CHECK_EQUAL(by_dynamic, round);
    CHECK_EQUAL(by_sections, 1 + round % 2);
  }
}

// The threads need not be in the same construct; a single counts between them. (GCC 12 keeps the
// last iteration of a construct that a region meets twice, hence one region for each round.)
void without_waiting() {
  for (int round = 0; round < 100; ++round) {
    int first = -1, second = -1, third = -1;
#pragma omp parallel num_threads(4)
    {
#pragma omp for nowait schedule(dynamic) lastprivate(conditional : first)
      for (int i = 0; i < 10; ++i) {
        if (i < 5) first = round + i;
      }
#pragma omp single nowait
      {
      }
#pragma omp for nowait schedule(dynamic) lastprivate(conditional : second)
      for (int i = 0; i < 10; ++i) second = round + i;
#pragma omp for nowait schedule(static) lastprivate(conditional : third)
      for (int i = 0; i < 10; ++i) {
        if (i > 5) third = round;
      }
#pragma omp barrier
      CHECK_EQUAL(first, round + 4);
      CHECK_EQUAL(second, round + 9);
      CHECK_EQUAL(third, round);
    }
  }
}

void in_inner_teams() {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 30; ++round) {
    long sum = 0, sums[20];
#pragma omp parallel for num_threads(1 + round % 3) reduction(inscan, + : sum)
    for (int i = 0; i < 20; ++i) {
      sum += round;
#pragma omp scan inclusive(sum)
      sums[i] = sum;
    }
    for (int i = 0; i < 20; ++i) CHECK_EQUAL(sums[i], round * (i + 1));
  }
}

// The outer loop's memory outlives that of the regions inside, serialized ones too.
void inside_another_one() {
  for (int levels = 1; levels <= 2; ++levels) {
    omp_set_max_active_levels(levels);
    for (int round = 0; round < 20; ++round) {
      int last = -1;
#pragma omp parallel for num_threads(3) schedule(dynamic) lastprivate(conditional : last)
      for (int i = 0; i < 30; ++i) {
        if (i % 2 == 0) last = i;
        long sum = 0, sums[20];
#pragma omp parallel for num_threads(2) reduction(inscan, + : sum)
        for (int j = 0; j < 20; ++j) {
          sum += i;
#pragma omp scan inclusive(sum)
          sums[j] = sum;
        }
        for (int j = 0; j < 20; ++j) CHECK_EQUAL(sums[j], i * (j + 1));
      }
      CHECK_EQUAL(last, 28);
    }
  }
}

// Where a loop is not in the same function as its region, GCC has no variable of the team's that
// could do instead of the memory.
int last_iteration;

[[gnu::noinline]] void find_last_iteration(int count) {
#pragma omp for nowait schedule(dynamic) lastprivate(conditional : last_iteration)
  for (int i = 0; i < count; ++i) last_iteration = i;
}

long long sums[kCount][2], sum, twice;

[[gnu::noinline]] void add_up() {
#pragma omp for reduction(inscan, + : sum, twice)
  for (int i = 0; i < kCount; ++i) {
    sum += i;
    twice += 2 * i;
#pragma omp scan inclusive(sum, twice)
    sums[i][0] = sum;
    sums[i][1] = twice;
  }
}

// A thread leaves a region by cancellation before two constructs in which the others are. The next
// region's constructs are counted from the begin again, and must not be given the memory of the
// unfinished ones: it holds other iterations, and may be too small.
void after_a_cancelled_region() {
  CHECK(omp_get_cancellation());
  for (int round = 0; round < 200; ++round) {
    const int num_threads = 2 + round % (kMaxThreads - 1);
#pragma omp parallel num_threads(num_threads)
    {
      if (omp_get_thread_num() == round % num_threads) {
#pragma omp cancel parallel
      }
      find_last_iteration(kCount);
      find_last_iteration(kCount);
#pragma omp barrier
    }
    last_iteration = -1;
    sum = twice = 0;
#pragma omp parallel num_threads(kMaxThreads)
    {
      find_last_iteration(20);
      add_up();
    }
    CHECK_EQUAL(last_iteration, 19);
    for (long long i = 0; i < kCount; ++i) {
      CHECK_EQUAL(sums[i][0], i * (i + 1) / 2);
      CHECK_EQUAL(sums[i][1], i * (i + 1));
    }
  }
}

// The process is forked while other threads ask for memory. The child asks for some too.
void fork_beside_constructs() {
  std::atomic<bool> stop{false};
  std::thread others([&stop] {
    while (!stop.load()) {
#pragma omp parallel num_threads(2)
      for (int loop = 0; loop < 200; ++loop) find_last_iteration(2);
    }
  });
  for (int round = 0; round < 100; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      last_iteration = -1;
#pragma omp parallel num_threads(2)
      find_last_iteration(20);
      omp_pause_resource_all(
          omp_pause_hard);  // libomp takes back what it has written down of the process
      _exit(last_iteration == 19 ? 0 : 1);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
  stop = true;
  others.join();
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"scan", scan},
                             {"conditional_lastprivate", conditional_lastprivate},
                             {"without_waiting", without_waiting},
                             {"in_inner_teams", in_inner_teams},
                             {"inside_another_one", inside_another_one},
                             {"after_a_cancelled_region", after_a_cancelled_region},
                             {"fork_beside_constructs", fork_beside_constructs}});
}
