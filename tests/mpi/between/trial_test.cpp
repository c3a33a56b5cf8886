// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/trial.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace hierbar::mpi {
namespace {

using ::testing::ElementsAre;

using Moments = std::vector<long long>;  // of each leader, in nanoseconds

// Leaders of one trial. A method is given by what it does with the moments at which they enter.
class Leaders {
 public:
  using Method = std::function<Moments(const Moments& enters)>;

  Leaders(std::size_t count, std::vector<Method> methods)
      : methods_(std::move(methods)), trials_(count, Trial(methods_.size())), now_(count) {}

  struct Verdict {
    std::size_t method;
    std::vector<double> medians_us;
    std::size_t num_meetings;
  };

  // Runs the trial; each leader works that long before each meeting.
  Verdict run(const std::function<long long(std::size_t meeting, std::size_t leader)>& work) {
    for (std::size_t meeting = 0;; ++meeting) {
      if (trials_[0].has_round_ended()) {
        const Trial::Proposal agreed = judge();
        if (Trial::is_verdict(agreed))
          return {static_cast<std::size_t>(agreed), trials_[0].medians_us(), trials_[0].num_meetings_in_all()};
        for (Trial& trial : trials_) trial.begin_round(agreed);
      }
      Moments enters = now_;
      for (std::size_t i = 0; i < enters.size(); ++i) enters[i] += work(meeting, i);
      now_ = methods_[trials_[0].method()](enters);
      // Each has a clock of its own.
      for (std::size_t i = 0; i < enters.size(); ++i) {
        const auto ahead = static_cast<long long>(i) * 1'000'000'000;
        trials_[i].record(enters[i] + ahead, now_[i] + ahead);
      }
    }
  }

 private:
  // What the leaders propose, which is the same in all.
  Trial::Proposal judge() {
    Trial::Times least = trials_[0].times();
    for (const Trial& trial : trials_) {
      for (std::size_t i = 0; i < trial.num_values(); ++i) least.values[i] = std::min(least.values[i], trial.times().values[i]);
    }
    const Trial::Proposal first = trials_[0].judge(least);
    for (std::size_t i = 1; i < trials_.size(); ++i) EXPECT_EQ(trials_[i].judge(least), first);
    return first;
  }

  std::vector<Method> methods_;
  std::vector<Trial> trials_;
  Moments now_;
};

// All leave together, so long after the last one has come.
Leaders::Method together(long long ns) {
  return [ns](const Moments& enters) { return Moments(enters.size(), *std::ranges::max_element(enters) + ns); };
}

// Each sends to each other: who comes last finds all messages there, and leaves at once.
Leaders::Method one_round(long long ns) {
  return [ns](const Moments& enters) {
    Moments leaves = enters;
    for (std::size_t i = 0; i < enters.size(); ++i) {
      for (std::size_t j = 0; j < enters.size(); ++j) leaves[i] = std::max(leaves[i], enters[j] + (i == j ? 0 : ns));
    }
    return leaves;
  };
}

// Leader 0 hears of all others, then they hear of it. It leaves first.
Leaders::Method root(long long ns) {
  return [ns](const Moments& enters) {
    Moments leaves(enters.size(), *std::ranges::max_element(enters) + 2 * ns);
    leaves[0] -= ns;
    return leaves;
  };
}

long long no_work(std::size_t, std::size_t) { return 0; }

TEST(Trial, MethodsTakeTurnsUntilTheRoundEnds) {
  Trial trial(3);
  std::vector<int> meetings(3);
  std::size_t count = 0;
  for (; !trial.has_round_ended(); ++count) {
    EXPECT_EQ(trial.method(), count / Trial::kTurn % 3);
    ++meetings[trial.method()];
    trial.record(0, 1);
  }
  EXPECT_EQ(count, Trial::kNumMeetings);
  EXPECT_THAT(meetings, ElementsAre(12, 12, 8));
}

TEST(Trial, TheBestMethodWins) {
  const Leaders::Verdict verdict =
      Leaders(2, {together(10'000), together(12'000), together(6'000), together(8'000)}).run(no_work);
  EXPECT_EQ(verdict.method, 2U);
  EXPECT_THAT(verdict.medians_us, ElementsAre(10, 12, 6, 8));
  EXPECT_EQ(verdict.num_meetings, Trial::kNumMeetings);
}

// Two are the best, and nothing tells them apart. Each is known precisely, so no further round follows.
TEST(Trial, MethodsThatCostTheSameEndIt) {
  const Leaders::Verdict verdict = Leaders(2, {together(10'000), together(6'000), together(6'000)}).run(no_work);
  EXPECT_NE(verdict.method, 0U);
  EXPECT_EQ(verdict.num_meetings, Trial::kNumMeetings);
}

// What loses has no turns in further rounds, and what may win has.
TEST(Trial, FurtherRoundsAreForThoseThatAreLeft) {
  std::vector<int> meetings(3);
  std::size_t number = 0;
  const auto counted = [&](std::size_t method, long long ns, long long spread) {
    return [&, method, ns, spread](const Moments& enters) {
      ++meetings[method];
      return together(ns + static_cast<long long>(number++ * 7 % 5) * spread)(enters);
    };
  };
  const Leaders::Verdict verdict =
      Leaders(2, {counted(0, 50'000, 0), counted(1, 10'000, 2'000), counted(2, 11'000, 2'000)}).run(no_work);
  EXPECT_NE(verdict.method, 0U);
  EXPECT_GT(verdict.num_meetings, Trial::kNumMeetings);
  EXPECT_EQ(meetings[0], 12);
  EXPECT_GT(meetings[2], 12 + 32);
}

TEST(Trial, ACheckHasOneMethod) {
  Trial check = Trial::check_of(2, 4);
  for (long long now = 0; !check.has_round_ended(); now += 10'000) {
    EXPECT_EQ(check.method(), 2U);
    check.record(now, now + 10'000);
  }
  EXPECT_EQ(check.judge(check.times()), 2);
  EXPECT_THAT(check.medians_us(), ElementsAre(0, 0, 10, 0));
}

TEST(Trial, TheLibraryStaysUnlessThreePercentAreGained) {
  EXPECT_EQ(Leaders(2, {together(10'000), together(9'701)}).run(no_work).method, 0U);
  EXPECT_EQ(Leaders(2, {together(10'000), together(9'700)}).run(no_work).method, 1U);
  EXPECT_EQ(Leaders(2, {together(10'000), together(10'000)}).run(no_work).method, 0U);
  EXPECT_EQ(Leaders(2, {together(0), together(0)}).run(no_work).method, 0U);
}

// The library connects the processes in its first meeting, and another time something delays it.
TEST(Trial, TheFirstMeetingAndRareDelaysDoNotCount) {
  int num_meetings = 0;
  const auto with_delays = [&](const Moments& enters) {
    const int number = num_meetings++;
    return together(number == 0 || number == 5 ? 9'000'000 : 10'000)(enters);
  };
  EXPECT_THAT(Leaders(2, {with_delays, together(5'000)}).run(no_work).medians_us, ElementsAre(10, 5));
}

// By the time of whoever comes last, the single round would seem to cost nothing, and by that of
// whoever comes first, every method as much as the work.
TEST(Trial, WorkOfWhicheverLengthDoesNotCount) {
  const auto work = [](std::size_t meeting, std::size_t leader) {
    return 50'000 + static_cast<long long>((meeting * 7 + leader * 3) % 4) * 100'000;
  };
  const Leaders::Verdict verdict = Leaders(4, {together(9'000), one_round(10'000), root(10'000)}).run(work);
  EXPECT_EQ(verdict.method, 0U);
  EXPECT_EQ(verdict.medians_us[0], 9);
  EXPECT_NEAR(verdict.medians_us[1], 10, 5);
  EXPECT_NEAR(verdict.medians_us[2], 20, 5);
}

// Each costs what it does where it alone is in use.
TEST(Trial, LeadersThatLeaveFirstHarmNoOtherMethod) {
  const Leaders::Verdict verdict = Leaders(4, {root(10'000), one_round(10'000), root(6'000), together(9'000)}).run(no_work);
  EXPECT_EQ(verdict.method, 3U);
  EXPECT_THAT(verdict.medians_us, ElementsAre(20, 10, 12, 9));
}

}  // namespace
}  // namespace hierbar::mpi
