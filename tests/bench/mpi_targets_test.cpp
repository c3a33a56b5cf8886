// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What mpi_barrier_bench and mpi_collective_bench say of their measurements: the verdicts and the
// report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

using testing::HasSubstr;

constexpr double kNearNs = 42;
constexpr double kFarNs = 190;

// ---- targets ----

Series series(const std::string& name, Family family, double ns) {
  return {name, family, "", {{0, {ns, ns, ns}}}};
}

Group group(int num_ranks, const std::string& quantity, double one_way_ns, double hier_ns) {
  Group result;
  result.num_participants = num_ranks;
  result.participant = "rank";
  result.quantity = quantity;
  result.oversubscribed = num_ranks > 2;
  result.bound = num_ranks == 2;
  result.blocks = {{0, one_way_ns, one_way_ns, true}};
  result.series = {
      series("hier", Family::kHier, hier_ns),   series("mpich", Family::kMpich, 1000),
      series("openmpi", Family::kOpenMpi, 300), series("openmpi-shm", Family::kOpenMpi, 200),
      series("wheel-shm", Family::kOther, 1),   series("exchange-mov", Family::kFloor, 80)};
  settle(result);
  return result;
}

Outcome outcome(const Group& measured, const std::string& part) {
  Measurements measurements;
  measurements.groups = {measured};
  const auto verdicts = judge(measurements, MpiBenchOptions(), 2);
  const auto found = std::find_if(
      verdicts.begin(), verdicts.end(),
      [&part](const Verdict& verdict) { return verdict.what.find(part) != std::string::npos; });
  EXPECT_NE(found, verdicts.end()) << "no target speaks of " << part;
  return found == verdicts.end() ? Outcome::kNotMeasured : found->outcome;
}

TEST(MpiTargets, OfAPairAllowAFifthOfMpich) {
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 200), "MPICH's own"), Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 201), "MPICH's own"), Outcome::kFail);
}

TEST(MpiTargets, OfAPairDependOnTheRegimeAgainstTheBestOpenMpi) {
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 120), "best Open MPI (openmpi-shm)"),
            Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 121), "best Open MPI"), Outcome::kFail);
  EXPECT_EQ(outcome(group(2, "period", kNearNs, 90), "best Open MPI"), Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "period", kNearNs, 91), "best Open MPI"), Outcome::kFail);
}

TEST(MpiTargets, OfAPairAllowAFifthOr15NsAboveTheFloor) {
  EXPECT_EQ(outcome(group(2, "period", kNearNs, 96), "exchange floor"), Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "period", kNearNs, 97), "exchange floor"), Outcome::kFail);
}

TEST(MpiTargets, AskThatLatencyAndSkewOfAPairAreNoWorse) {
  for (const char* const quantity : {"isolated", "skew"}) {
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 210), "best Open MPI"), Outcome::kPass)
        << quantity;
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 211), "best Open MPI"), Outcome::kFail)
        << quantity;
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 1051), "MPICH's own"), Outcome::kFail)
        << quantity;
  }
}

TEST(MpiTargets, OfOversubscribedRanksAskForAFiveHundredthOfMpichAndNoMoreThanOpenMpi) {
  const auto against = [](double mpich_ns, double hier_ns) {
    Group result = group(8, "loop", kNearNs, hier_ns);
    result.series[1] = series("mpich", Family::kMpich, mpich_ns);
    return result;
  };
  EXPECT_EQ(outcome(against(100000, 200), "MPICH's own"), Outcome::kPass);
  EXPECT_EQ(outcome(against(100000, 201), "MPICH's own"), Outcome::kFail);
  EXPECT_EQ(outcome(against(200000, 210), "best Open MPI"), Outcome::kPass);
  EXPECT_EQ(outcome(against(200000, 211), "best Open MPI"), Outcome::kFail);
}

TEST(MpiTargets, OfRanksThatComeFromACallOfTheLibraryAskForNoMoreThanItsOwnBarrier) {
  EXPECT_EQ(outcome(group(8, "elsewhere", kNearNs, 1050), "MPICH's own"), Outcome::kPass);
  EXPECT_EQ(outcome(group(8, "elsewhere", kNearNs, 1051), "MPICH's own"), Outcome::kFail);
  Measurements measurements;
  measurements.groups = {group(8, "elsewhere", kNearNs, 1000)};
  EXPECT_EQ(judge(measurements, MpiBenchOptions(), 2).size(), 1u)
      << "Open MPI's ranks come from another call";
}

TEST(MpiTargets, OfTheFirstBarrierAllowAMillisecondOverTheAllreduceOfTheSameProcesses) {
  const auto outcome_of = [](double first_ns, double allreduce_ns) {
    Measurements measurements;
    measurements.groups = {group(2, "first", kFarNs, first_ns), group(2, "cold", kFarNs, 1e9),
                           group(2, "allreduce", kFarNs, allreduce_ns),
                           group(4, "first", kFarNs, 1e9)};
    const auto verdicts = judge(measurements, MpiBenchOptions(), 2);
    EXPECT_EQ(verdicts.size(), 1u)
        << "neither the program's first barrier nor one of more ranks than cpus is judged";
    return verdicts.front().outcome;
  };
  EXPECT_EQ(outcome_of(1'005'000, 5'000), Outcome::kPass);
  EXPECT_EQ(outcome_of(1'005'001, 5'000), Outcome::kFail);
  EXPECT_EQ(outcome(group(2, "first", kFarNs, 1), "MPI_Allreduce"), Outcome::kNotMeasured);
}

TEST(MpiTargets, OfMpiInitAllowNothingOverMpichAlone) {
  EXPECT_EQ(outcome(group(2, "init", kFarNs, 1050), "MPICH's own (mpich)"), Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "init", kFarNs, 1051), "MPICH's own (mpich)"), Outcome::kFail);
}

TEST(MpiTargets, SayWhatWasNotMeasuredInsteadOfPassing) {
  Group without = group(2, "period", kNearNs, 10);
  without.series.erase(without.series.begin() + 2, without.series.begin() + 4);
  EXPECT_EQ(outcome(without, "Open MPI"), Outcome::kNotMeasured);
}

// ---- targets of calls that carry data ----

Outcome collective_outcome(const Group& barriers, const Group& measured, const std::string& part) {
  Measurements measurements;
  measurements.groups = {barriers, measured};
  for (const Verdict& verdict : judge(measurements, CollectiveBenchOptions(), 2)) {
    if (verdict.what.find(part) != std::string::npos) return verdict.outcome;
  }
  ADD_FAILURE() << "no target speaks of " << part;
  return Outcome::kNotMeasured;
}

TEST(CollectiveTargets, OfAPairCompareWithOurBarrierOfTheSameProcesses) {
  const Group barriers = group(2, "barrier", kNearNs, 100);
  const auto against_barrier = [&barriers](double ns) {
    return collective_outcome(barriers, group(2, "allreduce:8", kNearNs, ns), "MPI_Barrier");
  };
  EXPECT_EQ(against_barrier(115), Outcome::kPass);
  EXPECT_EQ(against_barrier(116), Outcome::kFail);
}

TEST(CollectiveTargets, DependOnTheCallItsSizeAndTheRanks) {
  const auto against_openmpi = [](int num_ranks, const std::string& quantity, double ns) {
    return collective_outcome(group(num_ranks, "barrier", kNearNs, 100),
                              group(num_ranks, quantity, kNearNs, ns), "best Open MPI");
  };
  EXPECT_EQ(against_openmpi(2, "allreduce:8", 70), Outcome::kPass);
  EXPECT_EQ(against_openmpi(2, "allreduce:8", 71), Outcome::kFail);
  EXPECT_EQ(against_openmpi(2, "reduce:512", 101), Outcome::kFail);
  EXPECT_EQ(against_openmpi(4, "allreduce:8", 120), Outcome::kPass);
  EXPECT_EQ(against_openmpi(2, "allreduce:1024", 210), Outcome::kPass);
  EXPECT_EQ(against_openmpi(2, "allreduce:1024", 211), Outcome::kFail);
}

TEST(CollectiveTargets, LeaveBarriersToMpiBarrierBench) {
  Measurements measurements;
  measurements.groups = {group(2, "barrier", kNearNs, 1e6)};
  EXPECT_TRUE(judge(measurements, CollectiveBenchOptions(), 2).empty());
}

// ---- reports ----

MpiConfiguration some(Implementation implementation) {
  MpiConfiguration result;
  result.name = "some";
  result.implementation = implementation;
  return result;
}

TEST(MpiReport, ShowsEveryConfigurationWithItsRatioAndTheOtherQuantitiesBesideThePeriod) {
  Measurements measurements;
  measurements.groups = {group(2, "period", kNearNs, 100), group(2, "skew", kNearNs, 33),
                         group(8, "loop", kNearNs, 100), group(8, "elsewhere", kNearNs, 2000)};
  measurements.groups[0].series[2].failure = "killed by signal 11";
  const std::string text = tables_text(measurements, MpiBenchOptions());
  EXPECT_THAT(
      text, HasSubstr("2 ranks; each bound to a core; regime near, one way 42 ns; 1 repetition\n"));
  EXPECT_THAT(text, HasSubstr("8 ranks; more than cpus, not bound"));
  EXPECT_THAT(text,
              testing::ContainsRegex("mpich +1000 +1000 .. 1000 +10.00 +10.00 .. 10.00 +1000\n"));
  EXPECT_THAT(text, testing::ContainsRegex("hier +100.0 .*33.0\n"));
  EXPECT_THAT(text, testing::ContainsRegex("ns +loop .*elsewhere\n"));
  EXPECT_THAT(text, testing::ContainsRegex("hier +100.0 .*2000\n"));
  EXPECT_THAT(text, HasSubstr("failed: killed by signal 11"));
  EXPECT_THAT(text, HasSubstr("exchange-mov"));
}

TEST(MpiReport, OfCallsWithDataHasATableForEachAndOurBarrierInIt) {
  Measurements measurements;
  measurements.groups = {group(2, "barrier", kNearNs, 100), group(2, "allreduce:8", kNearNs, 110)};
  const std::string text = tables_text(measurements, CollectiveBenchOptions());
  EXPECT_THAT(text, testing::ContainsRegex("ns +barrier +quartiles"));
  EXPECT_THAT(text, testing::ContainsRegex("ns +allreduce:8 +quartiles"));
  EXPECT_THAT(text, testing::ContainsRegex("hier, MPI_Barrier +100.0 .* 0.91 "));
  const nlohmann::json report = json_report(measurements, CollectiveBenchOptions(), {}, {}, {});
  EXPECT_EQ(report.at("format"), "hierbar-mpi-collective-bench-1");
  EXPECT_EQ(report.at("settings").at("bytes"), (std::vector<int>{8, 64, 512, 4096}));
  EXPECT_EQ(report.at("groups")[1].at("quantity"), "allreduce:8");
}

TEST(MpiReport, SaysWhatWasSkippedAndWhy) {
  MpiConfiguration absent = some(Implementation::kOpenMpi);
  absent.unavailable = "Open MPI is not installed";
  const std::string text = header_text({}, {}, {absent});
  EXPECT_THAT(text, testing::ContainsRegex("some +skipped: Open MPI is not installed\n"));
  EXPECT_THAT(text, HasSubstr("MPI_THREAD_SINGLE"));
}

TEST(MpiReport, InJsonHasEverySampleAndVerdict) {
  Measurements measurements;
  measurements.groups = {group(2, "period", kNearNs, 100)};
  const nlohmann::json report =
      json_report(measurements, MpiBenchOptions(), {}, {some(Implementation::kMpich)},
                  judge(measurements, MpiBenchOptions(), 2));
  EXPECT_EQ(report.at("format"), "hierbar-mpi-barrier-bench-1");
  EXPECT_EQ(report.at("groups")[0].at("ranks"), 2);
  EXPECT_EQ(report.at("groups")[0].at("quantity"), "period");
  EXPECT_EQ(report.at("groups")[0].at("series")[0].at("samples")[0].at("ns").size(), 3u);
  EXPECT_EQ(report.at("targets").size(), 3u);
  EXPECT_EQ(report.at("configurations").size(), 1u);
}

}  // namespace
}  // namespace hierbar::bench::mpi
