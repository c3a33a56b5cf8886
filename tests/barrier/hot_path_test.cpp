// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the hot path must not do: call the system while nobody sleeps, or allocate. The participants
// of the first test install a seccomp filter under which every system call ends the process.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "tests/barrier/baseline_subject.hpp"
#include "tests/barrier/collective_subject.hpp"
#include "tests/barrier/one_way_subject.hpp"
#include "tests/barrier/thread_trial.hpp"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
}

namespace hierbar::test {
namespace {

thread_local std::uint64_t num_allocations = 0;

constexpr std::uint32_t kNumCrossings = 1'000;
const WaitPolicy kSpinning = {.spin_polls = 1'000'000'000, .yields = 0, .sleeps = true};
const WaitPolicy kYielding = {.spin_polls = 0, .yields = 1'000'000'000, .sleeps = true};

// From now on a system call by this thread ends the process with SIGSYS. Returns false if the
// kernel has no such filters.
bool forbid_system_calls() {
  sock_filter instructions[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS}};
  const sock_fprog program{1, instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

void sleep_a_millisecond() {
  const timespec millisecond{0, 1'000'000};
  nanosleep(&millisecond, nullptr);
}

constexpr int kDone = 0;
constexpr int kNoFilters = 1;

// All that a barrier can do.
void use(ThreadTrial<EngineSubject>& trial, ThreadMem& mem, std::uint32_t me) {
  const auto barrier = trial.barrier();
  barrier.cross(mem, me, 0);
  barrier.gather(mem, me, 0, [](std::uint32_t) {});
  barrier.release(mem, me, 0);
}
void use(ThreadTrial<CollectiveSubject>& trial, ThreadMem& mem, std::uint32_t me) {
  EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
}
void use(ThreadTrial<OneWaySubject>& trial, ThreadMem& mem, std::uint32_t me) {
  EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
}
void use(ThreadTrial<BaselineSubject>& trial, ThreadMem& mem, std::uint32_t me) {
  EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
}

// Uses the barrier without system calls. Ends the process with one of the codes above, because its
// filtered threads cannot even exit.
template <class Subject>
[[noreturn]] void use_without_system_calls(const TestPlan& plan, const WaitPolicy& policy,
                                           const Subject& subject) {
  ThreadTrial<Subject> trial(plan, policy, subject);
  std::atomic<std::uint32_t> num_done{0};
  std::atomic<bool> has_filters{true};
  std::thread runner([&] {
    trial.run([&](ThreadMem& mem, std::uint32_t me) {
      use(trial, mem, me);
      if (!forbid_system_calls()) has_filters = false;
      for (std::uint32_t i = 0; i < kNumCrossings; ++i) use(trial, mem, me);
      ++num_done;
      while (has_filters) cpu_pause();
    });
  });
  while (num_done != plan.view().num_participants) sleep_a_millisecond();
  _exit(has_filters ? kDone : kNoFilters);
}

class HotPath : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (std::thread::hardware_concurrency() < 2)
      GTEST_SKIP() << "needs 2 cpus: with one, spinning takes its time slices";
  }
};

TEST_F(HotPath, MakesNoSystemCallWhenNobodySleeps) {
  for (const TestPlan& plan : {make_flat(2), make_crews(2, 1), make_crews(2, 2),
                               make_forest("flags", {{2}, 2, HIERBAR_RELEASE_FLAGS}),
                               make_forest("lines", {{2}, 2, HIERBAR_RELEASE_LINES})}) {
    for (const Fencing fencing : {Fencing::kByWriters, Fencing::kBySleepers}) {
      EXPECT_EXIT(use_without_system_calls(plan, kSpinning, EngineSubject{fencing}),
                  testing::ExitedWithCode(kDone), "")
          << plan.name() << suffix_of(fencing);
    }
  }
}

TEST_F(HotPath, OfACollectiveMakesNoSystemCallWhenNobodySleeps) {
  for (const TestPlan& plan :
       {make_flat(2), make_crews(2, 1), make_forest("flags", {{2}, 2, HIERBAR_RELEASE_FLAGS})}) {
    for (const Fencing fencing : {Fencing::kByWriters, Fencing::kBySleepers}) {
      EXPECT_EXIT(use_without_system_calls(plan, kSpinning, CollectiveSubject{fencing}),
                  testing::ExitedWithCode(kDone), "")
          << plan.name() << suffix_of(fencing);
      EXPECT_EXIT(use_without_system_calls(plan, kSpinning, OneWaySubject{fencing}),
                  testing::ExitedWithCode(kDone), "")
          << plan.name() << suffix_of(fencing);
    }
  }
}

TEST_F(HotPath, OfABaselineMakesNoSystemCallWhenNobodySleeps) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == Algorithm::kHier) continue;
    EXPECT_EXIT(use_without_system_calls(make_flat(2), kSpinning, BaselineSubject{named.algorithm}),
                testing::ExitedWithCode(kDone), "")
        << named.name;
  }
}

TEST_F(HotPath, IsMeasuredByATestThatSeesSystemCalls) {
  EXPECT_EXIT(use_without_system_calls(make_flat(2), kYielding, EngineSubject{}),
              testing::KilledBySignal(SIGSYS), "");
}

template <class Subject>
void expect_no_allocation(const TestPlan& plan, const Subject& subject) {
  for (const WaitPolicy& policy :
       {kYielding, WaitPolicy{.spin_polls = 0, .yields = 0, .sleeps = true}}) {
    ThreadTrial<Subject> trial(plan, policy, subject);
    trial.run([&](ThreadMem& mem, std::uint32_t me) {
      const std::uint64_t before = num_allocations;
      for (int i = 0; i < 100; ++i) use(trial, mem, me);
      EXPECT_EQ(num_allocations, before);
    });
  }
}

TEST(Barrier, NeverAllocates) {
  const TestPlan forest = make_forest("forest", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS});
  for (const Fencing fencing : {Fencing::kByWriters, Fencing::kBySleepers}) {
    expect_no_allocation(forest, EngineSubject{fencing});
    expect_no_allocation(forest, CollectiveSubject{fencing});
    expect_no_allocation(forest, OneWaySubject{fencing});
  }
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm != Algorithm::kHier)
      expect_no_allocation(forest, BaselineSubject{named.algorithm});
  }
  const std::uint64_t before = num_allocations;
  const auto probe = std::make_unique<int>(1);
  EXPECT_EQ(num_allocations, before + *probe) << "the count works";
}

}  // namespace

void count_allocation() { ++num_allocations; }

}  // namespace hierbar::test

// Replaces the functions of the C library, so that operator new is counted as well.
extern "C" {
void* malloc(std::size_t bytes) {
  hierbar::test::count_allocation();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  hierbar::test::count_allocation();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  hierbar::test::count_allocation();
  return __libc_realloc(memory, bytes);
}
}
