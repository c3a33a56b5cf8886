// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Non-temporal stores before a barrier are visible after it. Compilers emit them for large copies
// and call the barrier without a fence, and on x86 a plain store may overtake them. Only words in
// different lines stay in the write-combining buffers for long. So two kinds of data are written:
// single words far apart, and whole buffers.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/arch/publish.hpp"
#include "tests/barrier/baseline_subject.hpp"
#include "tests/barrier/thread_trial.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hierbar::test {
namespace {

#if defined(__SSE2__)

// It polls so long that it sees a word while the stores before it may still be in flight.
constexpr WaitPolicy kSpinning = {
    .spin_polls = 2000, .pauses_per_poll = 1, .yields = 0, .sleeps = false};

// One participant's data, written whole or in single words. All words of a round have one value.
class Buffer {
 public:
  void write_words(int value) {
    for (std::size_t i = 0; i < kNumWords; ++i) _mm_stream_si32(&data_[i * kWordsApart], value);
  }
  void write_all(int value) {
    for (std::size_t i = 0; i < data_.size(); i += 4) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(&data_[i]), _mm_set1_epi32(value));
    }
  }
  bool words_are(int value) const {
    bool equal = true;
    // The last word is read first.
    for (std::size_t i = kNumWords; i-- > 0;) equal &= data_[i * kWordsApart] == value;
    return equal;
  }
  bool all_are(int value) const {
    bool equal = true;
    for (const int word : data_) equal &= word == value;
    return equal;
  }

 private:
  static constexpr std::size_t kWordsApart = 80;  // so they are in different lines
  static constexpr std::size_t kNumWords = 2;
  alignas(64) std::array<int, 4096> data_{};
};

// Every participant writes, all cross, every participant reads everybody's data, all cross.
template <class Subject, class Write, class Look>
int stale_after_cross(const TestPlan& plan, const Subject& subject, int num_rounds, Write&& write,
                      Look&& look) {
  ThreadTrial<Subject> trial(plan, kSpinning, subject);
  std::vector<Buffer> buffers(trial.plan().num_participants);
  std::atomic<int> num_stale{0};
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    for (int round = 1; round <= num_rounds; ++round) {
      write(buffers[me], round);
      EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
      for (const Buffer& buffer : buffers) num_stale += look(buffer, round) ? 0 : 1;
      EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
    }
  });
  return num_stale;
}

template <class Subject>
int stale_words_after_cross(const TestPlan& plan, const Subject& subject, int num_rounds) {
  return stale_after_cross(
      plan, subject, num_rounds, [](Buffer& buffer, int round) { buffer.write_words(round); },
      [](const Buffer& buffer, int round) { return buffer.words_are(round); });
}

class NonTemporalStores : public testing::TestWithParam<std::tuple<TestPlan, Fencing>> {
 protected:
  static const TestPlan& plan() { return std::get<0>(GetParam()); }
  static EngineSubject subject() { return {std::get<1>(GetParam())}; }
};

TEST_P(NonTemporalStores, OfSingleWordsAreVisibleAfterACrossing) {
  EXPECT_EQ(stale_words_after_cross(plan(), subject(), 5000), 0);
}

TEST(NonTemporalStoresAndBaselines, OfSingleWordsAreVisibleAfterACrossing) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == Algorithm::kHier) continue;
    EXPECT_EQ(stale_words_after_cross(make_flat(2), BaselineSubject{named.algorithm}, 2000), 0)
        << named.name;
  }
}

TEST_P(NonTemporalStores, OfWholeBuffersAreVisibleAfterACrossing) {
  EXPECT_EQ(stale_after_cross(
                plan(), subject(), 1000, [](Buffer& buffer, int round) { buffer.write_all(round); },
                [](const Buffer& buffer, int round) { return buffer.all_are(round); }),
            0);
}

// Members write before they gather, and their parents read it. Participant 0 writes before it
// releases, and everybody reads it.
TEST_P(NonTemporalStores, AreVisibleInBothSplitPhases) {
  ThreadTrial trial(plan(), kSpinning, subject());
  std::vector<Buffer> buffers(trial.plan().num_participants);
  std::atomic<int> num_stale_in_gather{0};
  std::atomic<int> num_stale_in_release{0};
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    for (int round = 1; round <= 20'000; ++round) {
      if (me != 0) buffers[me].write_words(round);
      trial.barrier().gather(mem, me, 0, [&](std::uint32_t child) {
        num_stale_in_gather += buffers[child].words_are(round) ? 0 : 1;
      });
      if (me == 0) buffers[0].write_words(round);
      trial.barrier().release(mem, me, 0);
      // Not in participant 0: if it read its own data, the stores would be drained earlier.
      if (me != 0) num_stale_in_release += buffers[0].words_are(round) ? 0 : 1;
    }
  });
  EXPECT_EQ(num_stale_in_gather, 0);
  EXPECT_EQ(num_stale_in_release, 0);
}

// Whichever of them publish() takes on this machine. Two threads take turns.
TEST(NonTemporalStoresAndPublishing, AreVisibleWithTheWord) {
  for (const auto publish : {publish_by_store, publish_by_exchange}) {
    constexpr std::uint64_t kRounds = 5000;
    Buffer buffer;
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> looked{0};
    int num_stale = 0;
    std::thread reader([&] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        while (written.load(std::memory_order_acquire) != round) std::this_thread::yield();
        num_stale += buffer.words_are(static_cast<int>(round)) ? 0 : 1;
        looked.store(round, std::memory_order_release);
      }
    });
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      buffer.write_words(static_cast<int>(round));
      publish(written, round);
      while (looked.load(std::memory_order_acquire) != round) std::this_thread::yield();
    }
    reader.join();
    EXPECT_EQ(num_stale, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, NonTemporalStores,
    testing::Combine(testing::Values(make_flat(2), make_crews(2, 1), make_crews(2, 2),
                                     make_forest("pair_flags", {{2}, 2, HIERBAR_RELEASE_FLAGS}),
                                     make_forest("pair_lines", {{2}, 2, HIERBAR_RELEASE_LINES})),
                     testing::Values(Fencing::kByWriters, Fencing::kBySleepers)),
    [](const auto& instance) {
      return std::get<0>(instance.param).name() + suffix_of(std::get<1>(instance.param));
    });

#else

TEST(NonTemporalStores, AreVisibleAfterTheBarrier) {
  GTEST_SKIP() << "no SSE2: this machine's compilers have no such stores";
}

#endif

}  // namespace
}  // namespace hierbar::test
