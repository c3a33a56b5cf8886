// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/shared_calls.hpp"

namespace hierbar {
namespace {

constexpr int kEndless = 1'000'000'000;  // polls: nobody makes a call for somebody else

void yield() { sched_yield(); }

// Runs body() on a thread for each.
template <class Body>
void run_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedCalls, WhoAsksAloneMakesACallEachTime) {
  SharedCalls calls;
  int made = 0;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(calls.pass([&] { return ++made > 0; }, yield));
    EXPECT_EQ(made, i);
  }
}

TEST(SharedCalls, AllWhoAskDuringOneCallAreServedByTheNext) {
  constexpr int kOthers = 7;
  SharedCalls calls(kEndless);
  std::atomic<int> num_waiting{0};
  std::atomic<int> made{0};
  std::atomic<bool> begun{false};
  std::thread first([&] {
    const auto until_all_wait = [&] {
      ++made;
      begun = true;
      while (num_waiting < kOthers) yield();
      return true;
    };
    EXPECT_TRUE(calls.pass(until_all_wait, yield));
  });
  while (!begun) yield();
  run_threads(kOthers, [&] {
    bool waits = false;
    const auto note = [&] {
      if (!waits) ++num_waiting;
      waits = true;
      yield();
    };
    EXPECT_TRUE(calls.pass([&] { return ++made > 0; }, note));
  });
  first.join();
  EXPECT_EQ(made, 2);
}

// What a caller has written before it asks is seen by the call that serves it, whoever makes it.
TEST(SharedCalls, ACallThatServesBeginsAfterTheRequest) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  SharedCalls calls;
  std::atomic<int> written[kThreads] = {};
  std::atomic<int> seen[kThreads] = {};
  std::atomic<int> next{0};
  run_threads(kThreads, [&] {
    const int me = next++;
    const auto look = [&] {
      for (int t = 0; t < kThreads; ++t) {
        const int now = written[t];
        int before = seen[t];
        while (before < now && !seen[t].compare_exchange_weak(before, now)) {
        }
      }
      return true;
    };
    for (int round = 1; round <= kRounds; ++round) {
      written[me].store(round, std::memory_order_relaxed);
      EXPECT_TRUE(calls.pass(look, yield));
      EXPECT_GE(seen[me].load(std::memory_order_relaxed), round);
    }
  });
}

TEST(SharedCalls, NobodyWaitsForACallerThatHasLostItsCpu) {
  SharedCalls calls(/*polls=*/3);
  std::atomic<bool> may_end{false};
  std::atomic<bool> begun{false};
  std::thread lost([&] {
    const auto until_allowed = [&] {
      begun = true;
      while (!may_end) yield();
      return true;
    };
    EXPECT_TRUE(calls.pass(until_allowed, yield));
  });
  while (!begun) yield();
  int made = 0;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(calls.pass([&] { return ++made > 0; }, yield));
    EXPECT_EQ(made, i);
  }
  may_end = true;
  lost.join();
  EXPECT_TRUE(calls.pass([&] { return ++made > 0; }, yield));
  EXPECT_EQ(made, 4) << "its end completes nothing that has begun since";
}

TEST(SharedCalls, AFailedCallServesNobody) {
  SharedCalls calls(/*polls=*/3);
  EXPECT_FALSE(calls.pass([] { return false; }, yield));
  int made = 0;
  EXPECT_TRUE(calls.pass([&] { return ++made > 0; }, yield));
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace hierbar
