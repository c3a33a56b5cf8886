// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constructs that end with a barrier or are made of several. Also compiled with GCC, whose code
// calls the GOMP_* functions.

// BUILD: clang
// BUILD: gcc
// TEST: single copyprivate sections loops_of_all_schedules ordered_loop critical_and_master
//   CHECK: --counter fast>=1000
// Where teams outnumber the cpus, barriers without tasks go the other way for a while after some
// with.
// TEST: tasks
//   CHECK: --counter fast>=500 --counter slow>=500

#include <omp.h>

#include <atomic>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMaxThreads = 16;
constexpr int kRounds = 60;

template <class Body>
void in_every_team(Body&& body) {
  omp_test::in_every_team(1, kMaxThreads, kRounds, body);
}

// All see what the one wrote once they are past the construct.
void single() {
  int executions = 0;
  int last = -1;
  in_every_team([&](int, int round, int) {
#pragma omp single
    {
      ++executions;
      last = round;
    }
    CHECK_EQUAL(last, round);
#pragma omp barrier
  });
  CHECK_EQUAL(executions, kMaxThreads * kRounds);
}

struct Message {
  int from = -1;
  int round = -1;
  int numbers[30] = {};
};

// The one's private variables get into the others' before the one may change them again.
void copyprivate() {
  in_every_team([](int me, int round, int num_threads) {
    Message message;
    double factor = 0;
#pragma omp single copyprivate(message, factor)
    {
      message.from = me;
      message.round = round;
      message.numbers[29] = 100 * round + me;
      factor = round + 0.5;
    }
    CHECK(message.from >= 0 && message.from < num_threads);
    CHECK_EQUAL(message.round, round);
    CHECK_EQUAL(message.numbers[29], 100 * round + message.from);
    CHECK(factor == round + 0.5);
    message.round = -1;
  });
}

void sections() {
  std::vector<int> done(7);
  in_every_team([&](int, int round, int) {
#pragma omp sections
    {
#pragma omp section
      ++done[0];
#pragma omp section
      ++done[1];
#pragma omp section
      ++done[2];
#pragma omp section
      ++done[3];
#pragma omp section
      ++done[4];
    }
#pragma omp single nowait
    done[5] = round;
#pragma omp barrier
    for (int i = 1; i < 5; ++i) CHECK_EQUAL(done[i], done[0]);
    CHECK_EQUAL(done[5], round);
#pragma omp barrier
  });
  CHECK_EQUAL(done[0], kMaxThreads * kRounds);
}

void loops_of_all_schedules() {
  constexpr int kCount = 97;
  std::vector<int> visits(kCount);
  in_every_team([&](int, int round, int) {
    switch (round % 4) {
      case 0:
#pragma omp for schedule(static, 3)
        for (int i = 0; i < kCount; ++i) ++visits[i];
        break;
      case 1:
#pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < kCount; ++i) ++visits[i];
        break;
      case 2:
#pragma omp for schedule(guided)
        for (int i = 0; i < kCount; ++i) ++visits[i];
        break;
      default: {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < kCount; ++i) ++visits[i];
#pragma omp barrier
      }
    }
    for (int i = 1; i < kCount; ++i) CHECK_EQUAL(visits[i], visits[0]);
#pragma omp barrier
  });
  CHECK_EQUAL(visits[0], kMaxThreads * kRounds);
}

void ordered_loop() {
  int next = 0;
  in_every_team([&](int, int, int) {
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
      {
        CHECK_EQUAL(next, i);
        ++next;
      }
    }
#pragma omp single
    {
      CHECK_EQUAL(next, 20);
      next = 0;
    }
  });
}

void critical_and_master() {
  int inside = 0;
  int count = 0;
  int masters = 0;
  in_every_team([&](int me, int, int num_threads) {
#pragma omp critical
    {
      CHECK_EQUAL(++inside, 1);
      ++count;
      --inside;
    }
#pragma omp master
    {
      CHECK_EQUAL(me, 0);
      ++masters;
    }
#pragma omp barrier
    CHECK_EQUAL(count % num_threads, 0);
#pragma omp barrier
#pragma omp single
    count = 0;
  });
  CHECK_EQUAL(masters, kMaxThreads * kRounds);
}

void tasks() {
  std::atomic<int> done{0};
  in_every_team([&](int, int, int num_threads) {
#pragma omp single nowait
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
      ++done;
    }
#pragma omp barrier
    CHECK_EQUAL(done.load(), 20);
#pragma omp barrier
#pragma omp task shared(done)
    ++done;
#pragma omp taskwait
    omp_test::expect_done(done, 20 + num_threads);
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"single", single},
                             {"copyprivate", copyprivate},
                             {"sections", sections},
                             {"loops_of_all_schedules", loops_of_all_schedules},
                             {"ordered_loop", ordered_loop},
                             {"critical_and_master", critical_and_master},
                             {"tasks", tasks}});
}
