// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/random.hpp"
#include "mpi/between/trial.hpp"

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
          return {static_cast<std::size_t>(agreed), trials_[0].medians_us(),
                  trials_[0].num_meetings_in_all()};
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
      for (std::size_t i = 0; i < trial.num_values(); ++i)
        least.values[i] = std::min(least.values[i], trial.times().values[i]);
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
  return [ns](const Moments& enters) {
    return Moments(enters.size(), *std::ranges::max_element(enters) + ns);
  };
}

// Each sends to each other: who comes last finds all messages there, and leaves at once.
Leaders::Method one_round(long long ns) {
  return [ns](const Moments& enters) {
    Moments leaves = enters;
    for (std::size_t i = 0; i < enters.size(); ++i) {
      for (std::size_t j = 0; j < enters.size(); ++j)
        leaves[i] = std::max(leaves[i], enters[j] + (i == j ? 0 : ns));
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
      Leaders(2, {together(10'000), together(12'000), together(6'000), together(8'000)})
          .run(no_work);
  EXPECT_EQ(verdict.method, 2U);
  EXPECT_THAT(verdict.medians_us, ElementsAre(10, 12, 6, 8));
  EXPECT_EQ(verdict.num_meetings, Trial::kNumMeetings);
}

// Two are the best, and nothing tells them apart. Each is known precisely, so no further round
// follows.
TEST(Trial, MethodsThatCostTheSameEndIt) {
  const Leaders::Verdict verdict =
      Leaders(2, {together(10'000), together(6'000), together(6'000)}).run(no_work);
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
      Leaders(2, {counted(0, 50'000, 0), counted(1, 10'000, 2'000), counted(2, 11'000, 2'000)})
          .run(no_work);
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
  EXPECT_THAT(Leaders(2, {with_delays, together(5'000)}).run(no_work).medians_us,
              ElementsAre(10, 5));
}

// By the time of whoever comes last, the single round would seem to cost nothing, and by that of
// whoever comes first, every method as much as the work.
TEST(Trial, WorkOfWhicheverLengthDoesNotCount) {
  const auto work = [](std::size_t meeting, std::size_t leader) {
    return 50'000 + static_cast<long long>((meeting * 7 + leader * 3) % 4) * 100'000;
  };
  const Leaders::Verdict verdict =
      Leaders(4, {together(9'000), one_round(10'000), root(10'000)}).run(work);
  EXPECT_EQ(verdict.method, 0U);
  EXPECT_EQ(verdict.medians_us[0], 9);
  EXPECT_NEAR(verdict.medians_us[1], 10, 5);
  EXPECT_NEAR(verdict.medians_us[2], 20, 5);
}

// Each costs what it does where it alone is in use.
TEST(Trial, LeadersThatLeaveFirstHarmNoOtherMethod) {
  const Leaders::Verdict verdict =
      Leaders(4, {root(10'000), one_round(10'000), root(6'000), together(9'000)}).run(no_work);
  EXPECT_EQ(verdict.method, 3U);
  EXPECT_THAT(verdict.medians_us, ElementsAre(20, 10, 12, 9));
}

// ---- noise ----
//
// How often a trial among many noisy nodes finds the best method. The meetings are drawn at random:
// what one costs is the method's own cost, an error of measurement, and what the noise adds.

using test::Random;

double uniform(Random& random) {
  return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
}
double exponential(Random& random, double mean) { return -mean * std::log(uniform(random)); }
double normal(Random& random) {
  return std::sqrt(exponential(random, 2)) * std::cos(2 * 3.14159265358979 * uniform(random));
}

// A meeting, without noise.
struct Clean {
  double cost_us;
  double num_nodes;
  double now_us;
};

// `hz` interruptions a second on each node. The longest one that comes in the meeting delays it.
double longest_interruption(Random& random, const Clean& meeting, double hz,
                            const std::function<double(Random&)>& length_us) {
  const double mean_gap = 1e6 / (meeting.num_nodes * hz);
  double longest = 0;
  for (double at = exponential(random, mean_gap); at < meeting.cost_us;
       at += exponential(random, mean_gap))
    longest = std::max(longest, length_us(random));
  return longest;
}

struct Noise {
  const char* name;
  std::function<double(Random&, const Clean&)> delay_us;
};

Noise interruptions(const char* name, double hz, std::function<double(Random&)> length_us) {
  return {name, [hz, length_us](Random& random, const Clean& meeting) {
            return longest_interruption(random, meeting, hz, length_us);
          }};
}

double about_30_us(Random& random) { return exponential(random, 30); }
double tick_us(Random& random) { return 3 + 4 * uniform(random); }
double daemon_us(Random& random) {
  return std::min(1e5, 100 * std::pow(uniform(random), -1 / 1.5));
}

const std::array<Noise, 8> kNoises{{
    {"Quiet", [](Random&, const Clean&) { return 0.0; }},
    interruptions("TenInterruptionsASecond", 10, about_30_us),
    interruptions("AHundredInterruptionsASecond", 100, about_30_us),
    interruptions("AThousandInterruptionsASecond", 1000, about_30_us),
    interruptions("TimerTicks", 250, tick_us),
    interruptions("Daemons", 1, daemon_us),
    // A neighbour uses the network for 3 ms of 9: twelve meetings or so cost twice as much.
    {"CongestedAtTimes",
     [](Random&, const Clean& meeting) {
       return std::fmod(meeting.now_us, 9000) < 3000 ? meeting.cost_us : 0;
     }},
    {"UnevenNetwork",
     [](Random& random, const Clean& meeting) {
       return meeting.cost_us * (std::exp(0.3 * normal(random)) - 0.8);
     }},
}};

// One job, and what its methods cost.
class Job {
 public:
  static constexpr double kOutsideUs = 250;
  using Costs = std::array<double, 4>;

  Job(const Noise& noise, double num_nodes, const Costs& clean_us, std::uint64_t seed)
      : noise_(noise), num_nodes_(num_nodes), clean_us_(clean_us), random_(seed) {
    for (std::size_t method = 0; method < clean_us.size(); ++method)
      expected_us_[method] = mean_us(method);
    now_us_ = 9000 * uniform(random_);
  }

  struct Result {
    bool is_best;  // within 5 %
    bool is_worse_than_library;
    std::size_t num_meetings;
    double loss;  // what the trial took more than the best method had, in meetings of that
  };

  Result run() {
    Trial trial(clean_us_.size());
    const double best = *std::ranges::min_element(expected_us_);
    double loss_us = 0;
    for (;;) {
      Trial::Times least{};
      for (std::size_t meeting = 0; !trial.has_round_ended(); ++meeting) {
        loss_us += expected_us_[trial.method()] - best;
        const double cost_us = draw_us(trial.method()) + 0.7 * normal(random_);
        least.period(meeting) = std::llround((kOutsideUs + cost_us) * 1000);
        least.minus_period(meeting) = -least.period(meeting);
        least.minus_outside(meeting) = -std::llround(kOutsideUs * 1000);
        trial.record(0, 0);
      }
      const Trial::Proposal proposal = trial.judge(least);
      if (!Trial::is_verdict(proposal)) {
        trial.begin_round(proposal);
        continue;
      }
      const double chosen = expected_us_[static_cast<std::size_t>(proposal)];
      return {chosen <= best * 1.05, proposal != 0 && chosen > expected_us_[0],
              trial.num_meetings_in_all(), loss_us / best};
    }
  }

 private:
  double draw_us(std::size_t method) {
    const double cost_us = clean_us_[method] + 1.6 * std::abs(normal(random_));
    const double delayed_us = cost_us + noise_.delay_us(random_, {cost_us, num_nodes_, now_us_});
    now_us_ += kOutsideUs + delayed_us;
    return delayed_us;
  }

  // The same draws for all methods, so that they differ by their costs alone.
  double mean_us(std::size_t method) {
    constexpr int kDraws = 1000;
    random_ = Random(1);
    now_us_ = 0;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) sum += draw_us(method);
    return sum / kDraws;
  }

  const Noise& noise_;
  double num_nodes_;
  Costs clean_us_, expected_us_{};
  Random random_;
  double now_us_ = 0;
};

class TrialNoise : public ::testing::TestWithParam<Noise> {};

// One schedule is better than the library by 10 to 30 %, or worse by 2 %. The others are worse.
TEST_P(TrialNoise, TheBestIsFoundAndRarelyAWorseOneThanTheLibrary) {
  constexpr std::array<double, 5> kGains{-0.02, 0.1, 0.15, 0.2, 0.3};
  constexpr int kRuns = 20;
  for (const double num_nodes : {64, 256, 1024, 4096}) {
    int num_best = 0, num_worse = 0, num_runs = 0;
    double num_meetings = 0, loss = 0;
    for (const double gain : kGains) {
      Job job(GetParam(), num_nodes, {20, 20 * (1 - gain), gain < 0 ? 20.4 : 24, 28}, 7);
      for (int run = 0; run < kRuns; ++run, ++num_runs) {
        const Job::Result result = job.run();
        num_best += result.is_best;
        num_worse += result.is_worse_than_library;
        num_meetings += static_cast<double>(result.num_meetings);
        loss += result.loss;
      }
    }
    EXPECT_GE(num_best, num_runs * 90 / 100) << num_nodes;
    EXPECT_LE(num_worse, num_runs * 2 / 100) << num_nodes;
    std::printf(
        "%s, %4.0f nodes: best %d of %d, worse than the library %d, %4.0f meetings, which cost "
        "what %.0f more would\n",
        GetParam().name, num_nodes, num_best, num_runs, num_worse, num_meetings / num_runs,
        loss / num_runs);
  }
}

INSTANTIATE_TEST_SUITE_P(Noises, TrialNoise, ::testing::ValuesIn(kNoises),
                         [](const auto& noise) { return noise.param.name; });

}  // namespace
}  // namespace hierbar::mpi
