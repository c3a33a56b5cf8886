// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// pthread_cancel() of a thread that is in libomp, or in a region: the others go on. Compiled
// without exceptions: with them, a cancellation within a region calls std::terminate().

// BUILD: clang -fno-exceptions
// BUILD: gcc -fno-exceptions
// TEST: in_its_join in_its_region when_libomp_starts
//   ENV: KMP_BLOCKTIME=0
// TEST stock_pattern: in_its_join in_its_region when_libomp_starts
//   ENV: KMP_BARRIER KMP_BLOCKTIME=0

#include <omp.h>
#include <poll.h>
#include <pthread.h>

#include <atomic>

#include "tests/libomp/programs/check.hpp"

namespace {

std::atomic<int> step{0};

void await(int wanted) {
  while (step.load() < wanted) poll(nullptr, 0, 1);
}

void region(int num_threads) {
  int sum = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : sum)
  ++sum;
  CHECK_EQUAL(sum, num_threads);
}

void others_go_on() {
  for (int i = 0; i < 100; ++i) region(2 + i % 3);
  pthread_t other;
  CHECK_EQUAL(pthread_create(
                  &other, nullptr,
                  [](void*) -> void* {
                    region(3);
                    return nullptr;
                  },
                  nullptr),
              0);
  CHECK_EQUAL(pthread_join(other, nullptr), 0);
}

void expect_cancelled(pthread_t thread) {
  void* result = nullptr;
  CHECK_EQUAL(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
}

// Under KMP_BLOCKTIME=0 it sleeps in the join. It ends after the region.
void in_its_join() {
  static int written = 0;
  static std::atomic<bool> is_behind_the_join{false};
  pthread_t thread;
  const auto body = [](void*) -> void* {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        ++step;
      } else {
        await(2);
        written = 1;
      }
    }
    is_behind_the_join = written == 1;
    pthread_testcancel();
    return nullptr;
  };
  CHECK_EQUAL(pthread_create(&thread, nullptr, body, nullptr), 0);
  await(1);
  CHECK_EQUAL(pthread_cancel(thread), 0);
  others_go_on();
  step = 2;
  expect_cancelled(thread);
  CHECK(is_behind_the_join.load());
  others_go_on();
}

// It is gone, and its worker waits for it for ever.
void in_its_region() {
  pthread_t thread;
  const auto body = [](void*) -> void* {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        ++step;
        await(2);
      }
    }
    return nullptr;
  };
  region(3);
  CHECK_EQUAL(pthread_create(&thread, nullptr, body, nullptr), 0);
  await(1);
  CHECK_EQUAL(pthread_cancel(thread), 0);
  expect_cancelled(thread);
  others_go_on();
}

// libomp opens files when it starts, which are points where a thread can be cancelled. So does the
// first region of more than eight threads, whose plan depends on the machine.
void when_libomp_starts() {
  static std::atomic<bool> has_run{false};
  pthread_t thread;
  const auto body = [](void*) -> void* {
    int state = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    ++step;
    await(2);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    region(12);
    has_run = true;
    pthread_testcancel();
    return nullptr;
  };
  CHECK_EQUAL(pthread_create(&thread, nullptr, body, nullptr), 0);
  await(1);
  CHECK_EQUAL(pthread_cancel(thread), 0);
  step = 2;
  expect_cancelled(thread);
  CHECK(has_run.load());
  others_go_on();
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"in_its_join", in_its_join},
                             {"in_its_region", in_its_region},
                             {"when_libomp_starts", when_libomp_starts}});
}
