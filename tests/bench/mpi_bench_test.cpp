// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parts of mpi_barrier_bench that launch nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/mpi/answer.hpp"
#include "bench/mpi/configuration.hpp"
#include "bench/mpi/options.hpp"
#include "bench/mpi/report.hpp"
#include "bench/mpi/targets.hpp"

namespace hierbar::bench::mpi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNearNs = 42;
constexpr double kFarNs = 190;

// ---- options ----

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "mpi_barrier_bench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  Options options;
  EXPECT_FALSE(parse_options(static_cast<int>(arguments.size()), arguments.data(), options));
  return options;
}

TEST(Options, SortRankCountsAndDropRepeatedOnes) {
  EXPECT_THAT(parse({"--ranks", "8,2,8,4"}).rank_counts, ElementsAre(2, 4, 8));
  EXPECT_THAT(parse({}).rank_counts, ElementsAre(2, 4, 8, 16));
}

TEST(Options, QuickChangesDefaultsButNotWhatWasGiven) {
  const Options quick = parse({"--quick", "--reps", "7"});
  EXPECT_EQ(quick.num_repetitions, 7);
  EXPECT_EQ(quick.max_extra_repetitions, 7);
  EXPECT_LT(quick.budget_ms, Options().budget_ms);
  EXPECT_GT(quick.time_limit_s, 0);
  EXPECT_EQ(parse({}).time_limit_s, 0);
}

TEST(Options, FirstBarriersAreThoseOfTwoRanksUnlessToldOtherwise) {
  EXPECT_THAT(parse({"--first"}).rank_counts, ElementsAre(2));
  EXPECT_THAT(parse({"--first", "--ranks", "4"}).rank_counts, ElementsAre(4));
}

TEST(Options, TakeTheSeedThatIsGiven) { EXPECT_EQ(parse({"--seed", "17"}).seed, 17u); }

TEST(Options, AllMeetingsAreConfigurationsOnPretendedNodes) {
  const Options options = parse({"--configs", "hier", "--meetings", "all"});
  const std::vector<Configuration> configurations = make_configurations(options, "");
  ASSERT_EQ(configurations.size(), 1 + kAllMeetings.size());
  const auto named = [&](const std::string& name) {
    return std::find_if(configurations.begin(), configurations.end(), [&](const auto& one) { return one.name == name; });
  };
  const auto found = named("meet-dissemination:3");
  ASSERT_NE(found, configurations.end());
  EXPECT_EQ(found->variables.at("HIERBAR_MPI_MEETING"), "dissemination:3");
  EXPECT_EQ(found->variables.at("HIERBAR_FAKE_NODES"), "1024");
  EXPECT_TRUE(found->variables.contains("LD_PRELOAD"));
  EXPECT_FALSE(named("hier")->variables.contains("HIERBAR_MPI_MEETING"));
  EXPECT_THAT(parse({"--meetings", "auto,tree:2", "--nodes", "2"}).meetings, ElementsAre("auto", "tree:2"));
}

TEST(Options, OpenMpisOwnAlgorithmsAreMeasuredWithoutOurs) {
  const std::vector<Configuration> configurations =
      make_configurations(parse({"--configs", "hier", "--meetings", "tuned:3"}), "");
  ASSERT_EQ(configurations.size(), 2U);
  const Configuration& tuned = configurations.back();
  EXPECT_EQ(tuned.implementation, Implementation::kOpenMpi);
  EXPECT_FALSE(tuned.variables.contains("LD_PRELOAD"));
  EXPECT_THAT(tuned.arguments, testing::IsSupersetOf({"coll_tuned_barrier_algorithm", "3", "coll_tuned_use_dynamic_rules", "1"}));
  EXPECT_THAT(tuned.explains, testing::HasSubstr("recursive doubling"));
}

// ---- what the measured program says ----

constexpr const char* kAnswer =
    R"({"version": "MPICH Version: 4.0.2", "library": "/lib/libmpich.so.12", "barrier": "/lib/libmpich.so.12", "ranks": 2, )"
    R"("cpus": [0.0, 1.0], "program": {"period": [50.5, 51.0], "skew": [7.0]}, "own": {"period": [300.0]}})";

TEST(Answer, IsFoundAmongWhatALauncherSays) {
  const auto answer = parse_answer(std::string("a warning\n") + kAnswer + "\nanother {warning}\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->version, "MPICH Version: 4.0.2");
  EXPECT_THAT(answer->cpus, ElementsAre(0, 1));
  EXPECT_THAT(answer->program.at("period"), ElementsAre(50.5, 51.0));
  EXPECT_THAT(answer->program.at("skew"), ElementsAre(7.0));
  EXPECT_THAT(answer->own.at("period"), ElementsAre(300.0));
}

TEST(Answer, ThatIsCutOffOrMissesSomethingIsNone) {
  EXPECT_FALSE(parse_answer(""));
  EXPECT_FALSE(parse_answer(std::string(kAnswer).substr(0, 100)));
  EXPECT_FALSE(parse_answer(R"({"version": "MPICH Version: 4.0.2"})"));
  EXPECT_FALSE(parse_answer(R"({"version": 4})"));
}

// ---- launching ----

Configuration configuration(Implementation implementation) {
  Configuration result;
  result.name = "some";
  result.implementation = implementation;
  result.launcher = "/bin/launcher";
  result.worker = "/libexec/worker";
  return result;
}

TEST(LaunchCommand, OfMpichBindsAndSetsVariablesForTheRanksOnly) {
  Configuration mpich = configuration(Implementation::kMpich);
  mpich.variables = {{"LD_PRELOAD", "/lib/shim.so"}};
  EXPECT_THAT(launch_command(mpich, 2, true, {"--alone"}), ElementsAre("/bin/launcher", "-bind-to", "core", "-genv", "LD_PRELOAD",
                                                                       "/lib/shim.so", "-n", "2", "/libexec/worker", "--alone"));
  EXPECT_THAT(launch_command(mpich, 8, false, {}),
              ElementsAre("/bin/launcher", "-genv", "LD_PRELOAD", "/lib/shim.so", "-n", "8", "/libexec/worker"));
}

TEST(LaunchCommand, OfOpenMpiAllowsOversubscriptionAndRoot) {
  Configuration openmpi = configuration(Implementation::kOpenMpi);
  openmpi.arguments = {"--mca", "coll_sm_priority", "100"};
  std::vector<std::string> expected{"/bin/launcher",  "--oversubscribe", "--mca", "coll_sm_priority", "100", "-n", "8",
                                    "/libexec/worker"};
  if (geteuid() == 0) expected.insert(expected.begin() + 1, "--allow-run-as-root");
  EXPECT_EQ(launch_command(openmpi, 8, false, {}), expected);
  const auto bound = launch_command(openmpi, 2, true, {});
  EXPECT_EQ(std::count(bound.begin(), bound.end(), "--bind-to"), 1);
  EXPECT_EQ(std::count(bound.begin(), bound.end(), "--oversubscribe"), 0);
}

TEST(Mismatch, SaysWhichLibraryServedInstead) {
  const auto answer = parse_answer(kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(mismatch(configuration(Implementation::kMpich), *answer, true), "");
  EXPECT_THAT(mismatch(configuration(Implementation::kOpenMpi), *answer, true), HasSubstr("MPICH Version: 4.0.2 served it"));
  Configuration preloaded = configuration(Implementation::kMpich);
  preloaded.variables["LD_PRELOAD"] = "/lib/libhierbar_mpi.so";
  EXPECT_THAT(mismatch(preloaded, *answer, true), HasSubstr("not from /lib/libhierbar_mpi.so"));
  Configuration changed = configuration(Implementation::kMpich);
  changed.file = "/other/libmpich.so.12";
  EXPECT_THAT(mismatch(changed, *answer, true), HasSubstr("after /other/libmpich.so.12 had"));
}

TEST(Mismatch, SaysWhenBoundRanksShareACpu) {
  auto answer = parse_answer(kAnswer);
  ASSERT_TRUE(answer);
  answer->cpus = {1, 1};
  EXPECT_THAT(mismatch(configuration(Implementation::kMpich), *answer, true), HasSubstr("two ranks to one cpu"));
  EXPECT_EQ(mismatch(configuration(Implementation::kMpich), *answer, false), "");
}

TEST(Configurations, SayWhatIsNotInstalled) {
  Options options;
  options.lib_dir = "/nonexistent";
  options.configurations = {"mpich", "openmpi", "wheel"};
  const auto configurations = make_configurations(options, "");
  ASSERT_EQ(configurations.size(), 3u);
  EXPECT_THAT(configurations[0].unavailable, HasSubstr("MPICH is not installed"));
  EXPECT_THAT(configurations[1].unavailable, HasSubstr("Open MPI is not installed"));
  EXPECT_THAT(configurations[2].unavailable, HasSubstr("--mpich-wheel"));
}

TEST(Configurations, LeaveTheWheelOutUnlessItIsGiven) {
  EXPECT_EQ(make_configurations({}, "").size(), 5u);
  Options options;
  options.wheel_dir = "/wheel";
  EXPECT_EQ(make_configurations(options, "/link").size(), 8u);
}

// ---- targets ----

Series series(const std::string& name, Family family, double ns) { return {name, family, "", {{0, {ns, ns, ns}}}}; }

Group group(int num_ranks, const std::string& quantity, double one_way_ns, double hier_ns) {
  Group result;
  result.num_participants = num_ranks;
  result.participant = "rank";
  result.quantity = quantity;
  result.oversubscribed = num_ranks > 2;
  result.bound = num_ranks == 2;
  result.blocks = {{0, one_way_ns, one_way_ns, true}};
  result.series = {series("hier", Family::kHier, hier_ns),   series("mpich", Family::kMpich, 1000),
                   series("openmpi", Family::kOpenMpi, 300), series("openmpi-shm", Family::kOpenMpi, 200),
                   series("wheel-shm", Family::kOther, 1),   series("exchange-mov", Family::kFloor, 80)};
  settle(result);
  return result;
}

Outcome outcome(const Group& measured, const std::string& part) {
  Measurements measurements;
  measurements.groups = {measured};
  const auto verdicts = judge(measurements);
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&part](const Verdict& verdict) { return verdict.what.find(part) != std::string::npos; });
  EXPECT_NE(found, verdicts.end()) << "no target speaks of " << part;
  return found == verdicts.end() ? Outcome::kNotMeasured : found->outcome;
}

TEST(MpiTargets, OfAPairAllowAFifthOfMpich) {
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 200), "MPICH's own"), Outcome::kPass);
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 201), "MPICH's own"), Outcome::kFail);
}

TEST(MpiTargets, OfAPairDependOnTheRegimeAgainstTheBestOpenMpi) {
  EXPECT_EQ(outcome(group(2, "period", kFarNs, 120), "best Open MPI (openmpi-shm)"), Outcome::kPass);
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
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 210), "best Open MPI"), Outcome::kPass) << quantity;
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 211), "best Open MPI"), Outcome::kFail) << quantity;
    EXPECT_EQ(outcome(group(2, quantity, kNearNs, 1051), "MPICH's own"), Outcome::kFail) << quantity;
  }
}

TEST(MpiTargets, OfOversubscribedRanksAskForAFiveHundredthOfMpichAndNoMoreThanOpenMpi) {
  const auto against = [](double mpich_ns, double hier_ns) {
    Group result = group(8, "period", kNearNs, hier_ns);
    result.series[1] = series("mpich", Family::kMpich, mpich_ns);
    return result;
  };
  EXPECT_EQ(outcome(against(100000, 200), "MPICH's own"), Outcome::kPass);
  EXPECT_EQ(outcome(against(100000, 201), "MPICH's own"), Outcome::kFail);
  EXPECT_EQ(outcome(against(200000, 210), "best Open MPI"), Outcome::kPass);
  EXPECT_EQ(outcome(against(200000, 211), "best Open MPI"), Outcome::kFail);
}

TEST(MpiTargets, OfTheFirstBarrierAllowAMillisecondOverTheAllreduceOfTheSameProcesses) {
  const auto outcome_of = [](double first_ns, double allreduce_ns) {
    Measurements measurements;
    measurements.groups = {group(2, "first", kFarNs, first_ns), group(2, "cold", kFarNs, 1e9),
                           group(2, "allreduce", kFarNs, allreduce_ns), group(4, "first", kFarNs, 1e9)};
    const auto verdicts = judge(measurements);
    EXPECT_EQ(verdicts.size(), 1u) << "neither the program's first barrier nor one of more ranks than cpus is judged";
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

// ---- reports ----

TEST(MpiReport, ShowsEveryConfigurationWithItsRatioAndTheOtherQuantitiesBesideThePeriod) {
  Measurements measurements;
  measurements.groups = {group(2, "period", kNearNs, 100), group(2, "skew", kNearNs, 33), group(8, "period", kNearNs, 100)};
  measurements.groups[0].series[2].failure = "killed by signal 11";
  const std::string text = table_text(measurements);
  EXPECT_THAT(text, HasSubstr("2 ranks; each bound to a core; regime near, one way 42 ns; 1 repetition\n"));
  EXPECT_THAT(text, HasSubstr("8 ranks; more than cpus, not bound"));
  EXPECT_THAT(text, testing::ContainsRegex("mpich +1000 +1000 .. 1000 +10.00 +10.00 .. 10.00 +1000\n"));
  EXPECT_THAT(text, testing::ContainsRegex("hier +100.0 .*33.0\n"));
  EXPECT_THAT(text, HasSubstr("failed: killed by signal 11"));
  EXPECT_THAT(text, HasSubstr("exchange-mov"));
}

TEST(MpiReport, SaysWhatWasSkippedAndWhy) {
  Configuration absent = configuration(Implementation::kOpenMpi);
  absent.unavailable = "Open MPI is not installed";
  const std::string text = header_text({}, {}, {absent});
  EXPECT_THAT(text, testing::ContainsRegex("some +skipped: Open MPI is not installed\n"));
  EXPECT_THAT(text, HasSubstr("MPI_THREAD_SINGLE"));
}

TEST(MpiReport, InJsonHasEverySampleAndVerdict) {
  Measurements measurements;
  measurements.groups = {group(2, "period", kNearNs, 100)};
  const nlohmann::json report = json_report(measurements, {}, {}, {configuration(Implementation::kMpich)}, judge(measurements));
  EXPECT_EQ(report.at("format"), "hierbar-mpi-barrier-bench-1");
  EXPECT_EQ(report.at("groups")[0].at("ranks"), 2);
  EXPECT_EQ(report.at("groups")[0].at("quantity"), "period");
  EXPECT_EQ(report.at("groups")[0].at("series")[0].at("samples")[0].at("ns").size(), 3u);
  EXPECT_EQ(report.at("targets").size(), 3u);
  EXPECT_EQ(report.at("configurations").size(), 1u);
}

}  // namespace
}  // namespace hierbar::bench::mpi
