// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers of threads through the C API: plain data, which only the barrier keeps apart, so that
// ThreadSanitizer has a say.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "bench/common/random.hpp"
#include "tests/api/api_support.hpp"
#include "tests/barrier/engine_subject.hpp"

namespace hierbar::test {
namespace {

// What participant `me` brings to an episode. Few bring bits, so that a bit that is lost is not
// hidden behind another's.
struct Part {
  std::uint64_t value;
  std::uint32_t bits;
};
Part part_of(std::uint64_t episode, std::uint32_t me) {
  const std::uint64_t drawn = mix(episode * 1000 + me);
  return {drawn, drawn % 4 == 0 ? static_cast<std::uint32_t>(drawn >> 32) & HIERBAR_BITS_MASK : 0};
}

// Everybody writes its value, crosses by `cross(me, part, all_bits)`, reads all values, and crosses
// again. Counts what is wrong.
template <class Cross>
std::uint32_t count_errors(hierbar_barrier* barrier, const Cross& cross,
                           bool bits_are_or_ed = true) {
  const std::uint32_t count = hierbar_barrier_num_participants(barrier);
  std::vector<std::uint64_t> values(count);
  std::atomic<std::uint32_t> errors = 0;
  run_threads(count, [&](std::uint32_t me) {
    for (std::uint64_t episode = 0; episode < 200; ++episode) {
      const Part part = part_of(episode, me);
      values[me] = part.value;
      std::uint32_t seen_bits = 0;
      if (cross(me, part, seen_bits) != HIERBAR_OK) ++errors;
      std::uint32_t all_bits = 0;
      for (std::uint32_t p = 0; p < count; ++p) {
        if (values[p] != part_of(episode, p).value) ++errors;
        all_bits |= part_of(episode, p).bits;
      }
      if (bits_are_or_ed && seen_bits != all_bits) ++errors;
      if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) ++errors;
    }
  });
  return errors;
}

class BarrierOfApi : public testing::TestWithParam<std::tuple<std::uint32_t, std::size_t>> {
 protected:
  BarrierOfApi()
      : cpusets_(count()),
        attributes_(attributes_of(count(), kWaitings[std::get<1>(GetParam())].waiting)) {
    attributes_.cpusets = cpusets_.data();
  }
  static std::uint32_t count() { return std::get<0>(GetParam()); }

  Cpusets cpusets_;
  hierbar_attributes attributes_;
};

TEST_P(BarrierOfApi, ShowsEverybodyWhatAllWroteAndAllBits) {
  const BarrierHandle barrier = create(attributes_);
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(count_errors(barrier.get(),
                         [&](std::uint32_t me, const Part& part, std::uint32_t& bits) {
                           return hierbar_barrier_wait_bits(barrier.get(), me, part.bits, &bits);
                         }),
            0U);
}

TEST_P(BarrierOfApi, ShowsParticipant0EverythingBetweenTheHalves) {
  const BarrierHandle barrier = create(attributes_);
  ASSERT_NE(barrier, nullptr);
  std::uint64_t act = 0;
  std::vector<std::uint64_t> acts_seen(count());
  EXPECT_EQ(count_errors(barrier.get(),
                         [&](std::uint32_t me, const Part& part, std::uint32_t& bits) {
                           std::uint32_t gathered = 0;
                           if (const auto status =
                                   hierbar_barrier_gather(barrier.get(), me, part.bits, &gathered))
                             return status;
                           if (me == 0) ++act;
                           const auto status = hierbar_barrier_release(
                               barrier.get(), me, me == 0 ? gathered : 0, &bits);
                           if (act == acts_seen[me] + 1) ++acts_seen[me];
                           return status;
                         }),
            0U);
  EXPECT_THAT(acts_seen, testing::Each(200));
}

TEST_P(BarrierOfApi, EndsPresentAndLaterWaitsWhenAborted) {
  const BarrierHandle barrier = create(attributes_);
  ASSERT_NE(barrier, nullptr);
  std::vector<hierbar_status> first(count(), HIERBAR_OK);
  std::vector<hierbar_status> later(count(), HIERBAR_OK);
  run_threads(count(), [&](std::uint32_t me) {
    if (me == count() - 1) hierbar_barrier_abort(barrier.get());
    first[me] = hierbar_barrier_wait(barrier.get(), me);
    later[me] = hierbar_barrier_gather(barrier.get(), me, 0, nullptr);
  });
  EXPECT_THAT(first, testing::Each(HIERBAR_ABORTED));
  EXPECT_THAT(later, testing::Each(HIERBAR_ABORTED));
  EXPECT_EQ(hierbar_barrier_release(barrier.get(), 0, 0, nullptr), HIERBAR_ABORTED);
  EXPECT_EQ(hierbar_barrier_wait_bits(barrier.get(), 0, 0, nullptr), HIERBAR_ABORTED);
}

INSTANTIATE_TEST_SUITE_P(Teams, BarrierOfApi,
                         testing::Combine(testing::Values(1U, 2U, 3U, 4U, 5U, 8U, 17U),
                                          testing::Range<std::size_t>(0, std::size(kWaitings))),
                         [](const auto& instance) {
                           return std::to_string(std::get<0>(instance.param)) + "_" +
                                  kWaitings[std::get<1>(instance.param)].name;
                         });

class AlgorithmOfApi
    : public testing::TestWithParam<std::tuple<std::size_t, std::uint32_t, std::size_t>> {
 protected:
  static NamedAlgorithm algorithm() { return kAlgorithms[std::get<0>(GetParam())]; }
  static std::uint32_t count() { return std::get<1>(GetParam()); }

  BarrierHandle make() const {
    hierbar_attributes attributes =
        attributes_of(count(), kWaitings[std::get<2>(GetParam())].waiting);
    const std::string name(algorithm().name);
    attributes.algorithm = name.c_str();
    attributes.cpusets = cpusets_.data();
    std::vector<std::string> lines;  // topo steps aside on machines without groups
    attributes.report = append_line;
    attributes.report_context = &lines;
    return create(attributes);
  }

  const Cpusets cpusets_ = Cpusets(count());
};

TEST_P(AlgorithmOfApi, ShowsEverybodyWhatAllWrote) {
  const BarrierHandle barrier = make();
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(count_errors(
                barrier.get(),
                [&](std::uint32_t me, const Part&, std::uint32_t&) {
                  return hierbar_barrier_wait(barrier.get(), me);
                },
                /*bits_are_or_ed=*/false),
            0U);
}

TEST_P(AlgorithmOfApi, EndsEveryWaitWhenAborted) {
  const BarrierHandle barrier = make();
  ASSERT_NE(barrier, nullptr);
  std::vector<hierbar_status> statuses(count(), HIERBAR_OK);
  run_threads(count(), [&](std::uint32_t me) {
    if (me == count() - 1) hierbar_barrier_abort(barrier.get());
    statuses[me] = hierbar_barrier_wait(barrier.get(), me);
  });
  EXPECT_THAT(statuses, testing::Each(HIERBAR_ABORTED));
}

INSTANTIATE_TEST_SUITE_P(Teams, AlgorithmOfApi,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(kAlgorithms)),
                                          testing::Values(1U, 2U, 9U),
                                          testing::Range<std::size_t>(0, std::size(kWaitings))),
                         [](const auto& instance) {
                           std::string name(kAlgorithms[std::get<0>(instance.param)].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + std::to_string(std::get<1>(instance.param)) + "_" +
                                  kWaitings[std::get<2>(instance.param)].name;
                         });

// Counts the polls of the one thread that waits, and lets its partner come after many; how often it
// has slept by then.
struct LongWait {
  static constexpr int kPolls = 20'000;
  int num_polls = 0;
  long num_sleeps = 0;
  std::atomic<bool> is_over = false;

  static long sleeps_so_far() {  // a yield is no voluntary switch, to the kernel
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }
  static int look(void* context) {
    auto& wait = *static_cast<LongWait*>(context);
    if (wait.is_over.load(std::memory_order_acquire)) return 0;
    if (wait.num_polls++ == 0) wait.num_sleeps = -sleeps_so_far();
    if (wait.num_polls < kPolls) return 0;
    wait.num_sleeps += sleeps_so_far();
    wait.is_over.store(true, std::memory_order_release);
    return 0;
  }
};

TEST(BarrierOfApiThreads, OutnumberedOnesYieldForLongBeforeTheySleep) {
  LongWait wait;
  const std::uint32_t cpu = 0;
  const std::vector<hierbar_cpuset> on_one_cpu(2, hierbar_cpuset{&cpu, nullptr, 1, 0});
  hierbar_attributes attributes =
      attributes_of(2, {HIERBAR_AUTO, HIERBAR_AUTO, HIERBAR_AUTO, LongWait::look, &wait});
  attributes.cpusets = on_one_cpu.data();
  const BarrierHandle barrier = create(attributes);
  ASSERT_NE(barrier, nullptr);
  run_threads(2, [&](std::uint32_t me) {
    while (me == 1 && !wait.is_over.load(std::memory_order_acquire)) std::this_thread::yield();
    EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_OK);
  });
  EXPECT_LT(wait.num_sleeps, LongWait::kPolls / 100);
}

TEST(BarrierOfApiThreads, CanBeMadeAndDestroyedOverAndOver) {
  for (int repetition = 0; repetition < 200; ++repetition) {
    const BarrierHandle barrier = create(attributes_of(3));
    ASSERT_NE(barrier, nullptr);
    run_threads(3, [&](std::uint32_t me) {
      EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_OK);
    });
  }
}

// The counters of all participants as they are long after the start: the next episodes cross the
// wrap-around.
TEST(BarrierOfApiThreads, GoesOnWhenTheCountersWrapAround) {
  for (const std::uint32_t count : {2U, 4U, 9U}) {
    const Cpusets cpusets(count);
    hierbar_attributes attributes = attributes_of(count);
    attributes.cpusets = cpusets.data();
    const SharedBarrier shared(attributes);
    ASSERT_EQ(shared.status(), HIERBAR_OK);
    start_lines<ApiMem::Word>(shared.plan(), shared.memory().bytes() + shared.header().lines_offset,
                              Epoch{0} - 5 * kEpochOne,
                              [](ApiMem::Word& word, std::uint64_t value) { word = value; });
    const BarrierHandle barrier = shared.attach();
    std::vector<std::uint32_t> counted(count);
    run_threads(count, [&](std::uint32_t me) {
      for (std::uint32_t episode = 1; episode <= 10; ++episode) {
        counted[me] = episode;
        EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_OK);
        EXPECT_THAT(counted, testing::Each(episode));
        EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_OK);
      }
    });
  }
}

struct Progress {
  std::atomic<int> calls = 0;
  int give_up_at = 0;  // 0: never
};
int make_progress(void* context) {
  auto& progress = *static_cast<Progress*>(context);
  return ++progress.calls == progress.give_up_at ? 1 : 0;
}

TEST(BarrierOfApiThreads, CallsTheProgressWhileItWaits) {
  Progress progress;
  const BarrierHandle barrier = create(attributes_of(2, {0, 0, 100'000, make_progress, &progress}));
  run_threads(2, [&](std::uint32_t me) {
    while (me == 1 && progress.calls < 10) sched_yield();  // participant 0 is waiting meanwhile
    EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_OK);
  });
  EXPECT_GE(progress.calls, 10);
}

TEST(BarrierOfApiThreads, AProgressThatGivesUpAbortsForAll) {
  Progress progress;
  progress.give_up_at = 7;
  const BarrierHandle barrier = create(attributes_of(3, {0, 0, 100'000, make_progress, &progress}));
  run_threads(2, [&](std::uint32_t me) {
    EXPECT_EQ(hierbar_barrier_wait(barrier.get(), me), HIERBAR_ABORTED);
  });
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 2), HIERBAR_ABORTED);
}

}  // namespace
}  // namespace hierbar::test
