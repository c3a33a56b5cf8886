// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/common/report/report_text.hpp"
#include "bench/runtimes/omp/bench.hpp"

namespace hierbar::bench::omp {
namespace {

constexpr int kNumCpus = 2;
constexpr double kNearNs = 42;
constexpr double kFarNs = 190;

Block steady(int repetition, double one_way_ns) {
  return {repetition, one_way_ns, one_way_ns, true};
}

Series series(const std::string& name, Family family, double ns) {
  return {name, family, "", {{0, {ns, ns, ns}}}};
}

Group barrier_group(int num_threads, double one_way_ns, std::vector<Series> entries) {
  Group group;
  group.num_participants = num_threads;
  group.quantity = "barrier";
  group.oversubscribed = num_threads > kNumCpus;
  group.blocks = {steady(0, one_way_ns)};
  group.series = std::move(entries);
  settle(group);
  return group;
}

std::vector<Verdict> judge_one(const Group& group, const OmpBenchOptions& options = {}) {
  Measurements results;
  results.groups = {group};
  return judge(results, options, kNumCpus);
}

Outcome outcome_of(const std::vector<Verdict>& verdicts, const std::string& part) {
  const auto found = std::find_if(
      verdicts.begin(), verdicts.end(),
      [&part](const Verdict& verdict) { return verdict.what.find(part) != std::string::npos; });
  EXPECT_NE(found, verdicts.end()) << "no target speaks of " << part;
  return found == verdicts.end() ? Outcome::kNotMeasured : found->outcome;
}

Group pair_group(double one_way_ns, double hier_ns) {
  return barrier_group(
      2, one_way_ns,
      {series("hier", Family::kHier, hier_ns), series("hyper", Family::kStock, 120),
       series("linear", Family::kStock, 100), series("libgomp", Family::kGnu, 200),
       series("exchange-xchg", Family::kFloor, 60), series("packed-mov", Family::kFloor, 50)});
}

TEST(Targets, ComparesWithTheFastestStockPattern) {
  EXPECT_EQ(outcome_of(judge_one(pair_group(kNearNs, 55)), "best stock libomp (linear)"),
            Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_one(pair_group(kNearNs, 56)), "best stock libomp (linear)"),
            Outcome::kFail);
}

TEST(Targets, AreMoreLenientWithStockAndLessSoWithLibgompWhenTheCpusAreFarApart) {
  EXPECT_EQ(outcome_of(judge_one(pair_group(kFarNs, 58)), "best stock libomp"), Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_one(pair_group(kFarNs, 59)), "best stock libomp"), Outcome::kFail);
  EXPECT_EQ(outcome_of(judge_one(pair_group(kNearNs, 71)), "libgomp"), Outcome::kFail);
  EXPECT_EQ(outcome_of(judge_one(pair_group(kFarNs, 71)), "libgomp"), Outcome::kPass);
}

// The least of all that were measured, whatever it is called.
TEST(Targets, AllowAFifthOr15NsAboveTheExchangeFloorWhicheverIsMore) {
  EXPECT_EQ(outcome_of(judge_one(pair_group(kNearNs, 65)), "exchange floor (packed-mov)"),
            Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_one(pair_group(kNearNs, 66)), "exchange floor"), Outcome::kFail);
  const auto with_floor = [](double hier_ns) {
    return barrier_group(
        2, kFarNs,
        {series("hier", Family::kHier, hier_ns), series("exchange-xchg", Family::kFloor, 200)});
  };
  EXPECT_EQ(outcome_of(judge_one(with_floor(239)), "exchange floor"), Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_one(with_floor(241)), "exchange floor"), Outcome::kFail);
}

TEST(Targets, TightenTheLessATeamOversubscribesTheMachine) {
  const auto oversubscribed = [](int num_threads) {
    return judge_one(barrier_group(
        num_threads, kNearNs,
        {series("hier", Family::kHier, 960), series("hyper", Family::kStock, 1000),
         series("libgomp", Family::kGnu, 5000), series("exchange-yield", Family::kFloor, 800)}));
  };
  EXPECT_EQ(outcome_of(oversubscribed(4), "best stock"), Outcome::kFail);
  EXPECT_EQ(outcome_of(oversubscribed(8), "best stock"), Outcome::kFail);
  EXPECT_EQ(outcome_of(oversubscribed(16), "best stock"), Outcome::kPass);
  EXPECT_EQ(outcome_of(oversubscribed(16), "libgomp"), Outcome::kPass);
  EXPECT_EQ(outcome_of(oversubscribed(16), "yield floor"), Outcome::kPass);
}

TEST(Targets, OfToolsAreTheirStampsAnd10NsOrWhenSampled5PercentOr5Ns) {
  const auto judge_tools = [](double noop_ns, double full_ns, double sampled_ns) {
    OmpBenchOptions options;
    options.tools = true;
    Measurements results;
    results.stamp_ns = 8;
    results.groups = {barrier_group(
        2, kNearNs,
        {series("hier", Family::kHier, 40), series("hier-noop-tool", Family::kOther, noop_ns),
         series("hier-tool", Family::kOther, full_ns),
         series("hier-tool-sampled", Family::kOther, sampled_ns)})};
    return judge(results, options, kNumCpus);
  };
  EXPECT_EQ(judge_tools(50, 76, 55).size(), 2u);
  EXPECT_EQ(outcome_of(judge_tools(50, 76, 55), "hier-tool - hier-noop-tool"), Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_tools(50, 76.5, 55), "hier-tool - hier-noop-tool"), Outcome::kFail);
  EXPECT_EQ(outcome_of(judge_tools(50, 76, 55), "hier-tool-sampled"), Outcome::kPass);
  EXPECT_EQ(outcome_of(judge_tools(50, 76, 56), "hier-tool-sampled"), Outcome::kFail);
  EXPECT_EQ(outcome_of(judge_tools(200, 226, 210), "hier-tool-sampled"), Outcome::kPass);
}

TEST(Targets, OfToolsThatWereNotMeasuredAreNotMet) {
  OmpBenchOptions options;
  options.tools = true;
  const auto verdicts =
      judge_one(barrier_group(2, kNearNs, {series("hier", Family::kHier, 50)}), options);
  ASSERT_EQ(verdicts.size(), 2u);
  for (const Verdict& verdict : verdicts)
    EXPECT_EQ(verdict.outcome, Outcome::kNotMeasured) << verdict.what;
}

TEST(Targets, FailWhenABatchStalledForMilliseconds) {
  Group group = barrier_group(4, kNearNs, {series("hier", Family::kHier, 2000)});
  EXPECT_EQ(outcome_of(judge_one(group), "slowest batch"), Outcome::kPass);
  group.series[0].samples[0].push_back(4e6);
  EXPECT_EQ(outcome_of(judge_one(group), "slowest batch"), Outcome::kFail);
}

TEST(Targets, AskOnlyForNoSlowerWhenWaitingIsPassive) {
  OmpBenchOptions passive;
  passive.passive = true;
  const auto verdicts = judge_one(pair_group(kNearNs, 119), passive);
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(outcome_of(verdicts, "stock default (hyper)"), Outcome::kPass);
}

TEST(Targets, SayWhatWasNotMeasuredInsteadOfPassing) {
  const auto verdicts = judge_one(barrier_group(2, kNearNs, {series("hier", Family::kHier, 50)}));
  EXPECT_EQ(outcome_of(verdicts, "libgomp"), Outcome::kNotMeasured);
  Group failed = pair_group(kNearNs, 50);
  failed.series[0].failure = "killed";
  for (const Verdict& verdict : judge_one(failed))
    EXPECT_EQ(verdict.outcome, Outcome::kNotMeasured) << verdict.what;
}

TEST(Targets, AreNotJudgedWhenTheRegimeNeverSettled) {
  Group group = pair_group(kNearNs, 50);
  group.blocks = {{0, kNearNs, kFarNs, true}};
  settle(group);
  for (const Verdict& verdict : judge_one(group))
    EXPECT_EQ(verdict.outcome, Outcome::kNotMeasured) << verdict.what;
}

TEST(Settle, DropsRepetitionsInWhichTheRegimeChangedAndThoseInTheOtherRegime) {
  Group group;
  group.blocks = {
      steady(0, kNearNs), {1, kNearNs, kFarNs, true}, steady(2, kFarNs), steady(3, kNearNs + 2)};
  EXPECT_EQ(settle(group), 2);
  EXPECT_TRUE(group.settled);
  EXPECT_TRUE(group.blocks[0].kept);
  EXPECT_FALSE(group.blocks[1].kept);
  EXPECT_FALSE(group.blocks[2].kept);
  EXPECT_TRUE(group.blocks[3].kept);
}

TEST(Settle, KeepsEverythingOnAMachineWithoutAPairOfCpus) {
  Group group;
  group.blocks = {{0, std::nullopt, std::nullopt, true}, {1, std::nullopt, std::nullopt, true}};
  EXPECT_EQ(settle(group), 2);
  EXPECT_TRUE(group.settled);
  EXPECT_FALSE(group.one_way_ns);
}

// A repetition in which others took this share of the cpus.
Block taken(int repetition, double share, double one_way_ns = kNearNs) {
  return {repetition, one_way_ns, one_way_ns, true, share};
}

TEST(Settle, DropsRepetitionsInWhichOthersUsedTheCpus) {
  Group group;
  group.blocks = {taken(0, 0.02), taken(1, 0.4), taken(2, 0.4, kFarNs), taken(3, 0.4, kFarNs),
                  taken(4, 0)};
  EXPECT_EQ(settle(group), 2);
  EXPECT_FALSE(group.disturbed);
  EXPECT_EQ(group.one_way_ns, kNearNs) << "the regime is that of the quiet repetitions";
  EXPECT_TRUE(group.blocks[0].kept);
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_FALSE(group.blocks[i].kept) << i;
}

TEST(Settle, KeepsAllAndSaysSoWhereOthersAlwaysUsedTheCpus) {
  Group group;
  group.blocks = {taken(0, 0.5), taken(1, 0.3)};
  EXPECT_EQ(settle(group), 0) << "so that the course repeats them";
  EXPECT_EQ(group.disturbed, 0.3);
  EXPECT_TRUE(group.blocks[0].kept && group.blocks[1].kept);
  group.blocks.push_back(taken(2, 0.01));
  EXPECT_EQ(settle(group), 1);
  EXPECT_FALSE(group.disturbed);
}

TEST(Targets, GiveNoVerdictForADisturbedGroup) {
  Group group = pair_group(kNearNs, 10);
  group.blocks = {taken(0, 0.6)};
  settle(group);
  for (const Verdict& verdict : judge_one(group)) {
    EXPECT_EQ(verdict.outcome, Outcome::kNotMeasured) << verdict.what;
    EXPECT_EQ(verdict.note, "others took 60 % of the cpus' time or more in every repetition");
  }
}

TEST(Targets, GiveNoVerdictWhereRepetitionsContradictEachOther) {
  const auto group_with = [](double second_ns) {
    Group group = pair_group(kNearNs, 10);
    group.blocks = {steady(0, kNearNs), steady(1, kNearNs)};
    for (Series& series : group.series) series.samples[1] = series.samples[0];
    group.series[0].samples[1] = {second_ns};
    return group;
  };
  EXPECT_EQ(outcome_of(judge_one(group_with(900)), "best stock libomp"), Outcome::kNotMeasured);
  EXPECT_EQ(outcome_of(judge_one(group_with(24)), "best stock libomp"), Outcome::kPass)
      << "far apart, but all far below 1";
  EXPECT_EQ(outcome_of(judge_one(group_with(39)), "best stock libomp"), Outcome::kPass)
      << "less than a factor of 4";
  const Group unclear = group_with(900);
  const auto ratio = ratio_of(unclear, unclear.series[0], unclear.series[2]);
  EXPECT_STREQ(doubt_of(unclear, *ratio), "unclear");
  EXPECT_EQ(ratio_cell(unclear, ratio), "unclear");
  EXPECT_EQ(ratio_cell(pair_group(kNearNs, 50), Ratio{0.5, 0.4, 0.6}), "0.50");
}

TEST(Results, LeaveDroppedRepetitionsOutOfEveryFigure) {
  Group group;
  group.series = {{"hier", Family::kHier, "", {{0, {10}}, {1, {1000}}}},
                  {"hyper", Family::kStock, "", {{0, {20}}, {1, {500}}}}};
  group.blocks = {steady(0, kNearNs), {1, kNearNs, kFarNs, true}};
  settle(group);
  EXPECT_EQ(summary_of(group, group.series[0])->maximum, 10);
  EXPECT_DOUBLE_EQ(ratio_of(group, group.series[0], group.series[1])->highest, 0.5);
}

TEST(Results, BestIsTheFastestThatDidNotFail) {
  Group group = pair_group(kNearNs, 50);
  EXPECT_EQ(best_of(group, Family::kStock)->name, "linear");
  group.series[2].failure = "killed";
  EXPECT_EQ(best_of(group, Family::kStock)->name, "hyper");
  EXPECT_EQ(best_of(group, Family::kOther), nullptr);
}

}  // namespace
}  // namespace hierbar::bench::omp
