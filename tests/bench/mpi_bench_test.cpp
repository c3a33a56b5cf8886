// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parts of mpi_barrier_bench and mpi_collective_bench that launch nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "bench/runtimes/mpi/configuration.hpp"
#include "bench/runtimes/mpi/options.hpp"

namespace hierbar::bench::mpi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- options ----

template <class Options = MpiBenchOptions>
Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), Options::kProgram);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  Options options;
  EXPECT_FALSE(parse_options(static_cast<int>(arguments.size()), arguments.data(), options));
  return options;
}

TEST(MpiBenchOptions, SortRankCountsAndDropRepeatedOnes) {
  EXPECT_THAT(parse({"--ranks", "8,2,8,4"}).rank_counts, ElementsAre(2, 4, 8));
  EXPECT_THAT(parse({}).rank_counts, ElementsAre(2, 4, 8, 16));
}

TEST(MpiBenchOptions, QuickChangesDefaultsButNotWhatWasGiven) {
  const MpiBenchOptions quick = parse({"--quick", "--reps", "7"});
  EXPECT_EQ(quick.num_repetitions, 7);
  EXPECT_EQ(quick.max_extra_repetitions, 7);
  EXPECT_LT(quick.budget_ms, MpiBenchOptions().budget_ms);
  EXPECT_GT(quick.time_limit_s, 0);
  EXPECT_EQ(parse({}).time_limit_s, 0);
}

TEST(MpiBenchOptions, FirstBarriersAreThoseOfTwoRanksUnlessToldOtherwise) {
  EXPECT_THAT(parse({"--first"}).rank_counts, ElementsAre(2));
  EXPECT_THAT(parse({"--first", "--ranks", "4"}).rank_counts, ElementsAre(4));
}

TEST(MpiBenchOptions, TakeTheSeedThatIsGiven) { EXPECT_EQ(parse({"--seed", "17"}).seed, 17u); }

TEST(MpiBenchOptions, AllMeetingsAreConfigurationsOnPretendedNodes) {
  const MpiBenchOptions options = parse({"--configs", "hier", "--meetings", "all"});
  const std::vector<MpiConfiguration> configurations = make_configurations(options);
  ASSERT_EQ(configurations.size(), 1 + kAllMeetings.size());
  const auto named = [&](const std::string& name) {
    return std::find_if(configurations.begin(), configurations.end(),
                        [&](const auto& one) { return one.name == name; });
  };
  const auto found = named("meet-dissemination:3");
  ASSERT_NE(found, configurations.end());
  EXPECT_EQ(found->variables.at("HIERBAR_MPI_MEETING"), "dissemination:3");
  EXPECT_EQ(found->variables.at("HIERBAR_FAKE_NODES"), "1024");
  EXPECT_TRUE(found->variables.contains("LD_PRELOAD"));
  EXPECT_FALSE(named("hier")->variables.contains("HIERBAR_MPI_MEETING"));
  EXPECT_THAT(parse({"--meetings", "auto,tree:2", "--nodes", "2"}).meetings,
              ElementsAre("auto", "tree:2"));
}

TEST(MpiBenchOptions, OpenMpisOwnAlgorithmsAreMeasuredWithoutOurs) {
  const std::vector<MpiConfiguration> configurations =
      make_configurations(parse({"--configs", "hier", "--meetings", "tuned:3"}));
  ASSERT_EQ(configurations.size(), 2U);
  const MpiConfiguration& tuned = configurations.back();
  EXPECT_EQ(tuned.implementation, Implementation::kOpenMpi);
  EXPECT_FALSE(tuned.variables.contains("LD_PRELOAD"));
  EXPECT_THAT(tuned.arguments, testing::IsSupersetOf({"coll_tuned_barrier_algorithm", "3",
                                                      "coll_tuned_use_dynamic_rules", "1"}));
  EXPECT_THAT(tuned.explains, testing::HasSubstr("recursive doubling"));
}

TEST(CollectiveBenchOptions, NameWhatIsMeasured) {
  EXPECT_THAT(parse<CollectiveBenchOptions>({}).quantities(),
              ElementsAre("allreduce:8", "allreduce:64", "allreduce:512", "allreduce:4096"));
  EXPECT_THAT(
      parse<CollectiveBenchOptions>({"--calls", "bcast,reduce", "--bytes", "64,8"}).quantities(),
      ElementsAre("bcast:8", "bcast:64", "reduce:8", "reduce:64"));
}

TEST(CollectiveBenchOptions, MeasureOursWithItsCollectives) {
  for (const MpiConfiguration& one :
       make_configurations(parse<CollectiveBenchOptions>({"--configs", "hier,mpich"}))) {
    const auto setting = one.variables.find("HIERBAR_MPI");
    EXPECT_EQ(setting == one.variables.end() ? "" : setting->second,
              one.preload ? "collectives" : "")
        << one.name;
  }
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

MpiConfiguration configuration(Implementation implementation) {
  MpiConfiguration result;
  result.name = "some";
  result.implementation = implementation;
  result.launcher = "/bin/launcher";
  result.worker = "/libexec/worker";
  return result;
}

TEST(LaunchCommand, OfMpichBindsAndSetsVariablesForTheRanksOnly) {
  MpiConfiguration mpich = configuration(Implementation::kMpich);
  mpich.variables = {{"LD_PRELOAD", "/lib/shim.so"}};
  EXPECT_THAT(launch_command(mpich, 2, true, {"--alone"}),
              ElementsAre("/bin/launcher", "-bind-to", "core", "-genv", "LD_PRELOAD",
                          "/lib/shim.so", "-n", "2", "/libexec/worker", "--alone"));
  EXPECT_THAT(launch_command(mpich, 8, false, {}),
              ElementsAre("/bin/launcher", "-genv", "LD_PRELOAD", "/lib/shim.so", "-n", "8",
                          "/libexec/worker"));
}

TEST(LaunchCommand, OfOpenMpiAllowsOversubscriptionAndRoot) {
  MpiConfiguration openmpi = configuration(Implementation::kOpenMpi);
  openmpi.arguments = {"--mca", "coll_sm_priority", "100"};
  std::vector<std::string> expected{
      "/bin/launcher",  "--oversubscribe", "--mca", "coll_sm_priority", "100", "-n", "8",
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
  EXPECT_THAT(mismatch(configuration(Implementation::kOpenMpi), *answer, true),
              HasSubstr("MPICH Version: 4.0.2 served it"));
  MpiConfiguration preloaded = configuration(Implementation::kMpich);
  preloaded.variables["LD_PRELOAD"] = "/lib/libhierbar_mpi.so";
  EXPECT_THAT(mismatch(preloaded, *answer, true), HasSubstr("not from /lib/libhierbar_mpi.so"));
  MpiConfiguration changed = configuration(Implementation::kMpich);
  changed.library = "/other/libmpich.so.12";
  EXPECT_THAT(mismatch(changed, *answer, true), HasSubstr("after /other/libmpich.so.12 had"));
}

TEST(Mismatch, SaysWhenBoundRanksShareACpu) {
  auto answer = parse_answer(kAnswer);
  ASSERT_TRUE(answer);
  answer->cpus = {1, 1};
  EXPECT_THAT(mismatch(configuration(Implementation::kMpich), *answer, true),
              HasSubstr("two ranks to one cpu"));
  EXPECT_EQ(mismatch(configuration(Implementation::kMpich), *answer, false), "");
}

TEST(Configurations, SayWhatIsNotInstalled) {
  MpiBenchOptions options;
  options.lib_dir = "/nonexistent";
  options.configurations = {"mpich", "openmpi", "wheel"};
  const auto configurations = make_configurations(options);
  ASSERT_EQ(configurations.size(), 3u);
  EXPECT_THAT(configurations[0].unavailable, HasSubstr("MPICH is not installed"));
  EXPECT_THAT(configurations[1].unavailable, HasSubstr("Open MPI is not installed"));
  EXPECT_THAT(configurations[2].unavailable, HasSubstr("--mpich-wheel"));
}

TEST(Configurations, LeaveTheWheelOutUnlessItIsGiven) {
  EXPECT_EQ(make_configurations(MpiBenchOptions()).size(), 5u);
  MpiBenchOptions options;
  options.wheel_dir = "/wheel";
  EXPECT_EQ(make_configurations(options).size(), 8u);
}

}  // namespace
}  // namespace hierbar::bench::mpi
