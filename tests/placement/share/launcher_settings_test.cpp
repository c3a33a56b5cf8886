// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <set>

#include "base/launchers.hpp"
#include "placement/share/launcher_settings.hpp"
#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

// The setting `name` for ranks with these cpus.
std::string written(const char* name, const std::vector<CpuSet>& shares) {
  const Machine machine = test::make_machine("any", {{Level::kCore, 2}}, 1);
  return *launcher_setting(name, {machine, Pattern::kShare, {}, shares});
}

TEST(Launch, HydraTakesCpusJoinedByPlus) {
  EXPECT_EQ(written("mpiexec", {cpus("0-1"), cpus("3")}), "-bind-to user:0+1,3");
}

TEST(Launch, SlurmTakesMasks) {
  EXPECT_EQ(written("srun", {cpus("0-1"), cpus("4-7,64"), cpus("128")}),
            "--cpu-bind=mask_cpu:0x3,0x100000000000000f0,0x100000000000000000000000000000000");
}

TEST(Launch, RankfilesNameTheCoresOfPackages) {
  using enum Level;
  Machine machine = test::make_machine("8 cpus", {{kPackage, 2}, {kCore, 2}}, 2);
  EXPECT_EQ(*rankfile(machine, {cpus("0-3"), cpus("4"), cpus("6-7")}),
            "rank 0=localhost slot=0:0-1\nrank 1=localhost slot=1:0\nrank 2=localhost slot=1:1\n");
  EXPECT_EQ(*rankfile(machine, {cpus("0-1"), cpus("0-3")}),
            "rank 0=localhost slot=0:0\nrank 1=localhost slot=0:0-1\n");
  machine.allowed = cpus("2-7");  // Open MPI does not see the others
  EXPECT_EQ(*rankfile(machine, {cpus("2-3")}), "rank 0=localhost slot=0:0\n");
}

TEST(Launch, RankfilesCannotSplitCores) {
  using enum Level;
  const Machine machine = test::make_machine("4 cpus", {{kPackage, 1}, {kCore, 2}}, 2);
  const Result<std::string> file = rankfile(machine, {cpus("0"), cpus("1")});
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error(), testing::HasSubstr("rank 1 and another have parts of one core"));
}

TEST(Launch, RankfilesSayWhyTheyCannotName) {
  using enum Level;
  EXPECT_THAT(rankfile(test::make_machine("2 cpus", {{kCore, 2}}, 1), {cpus("0")}).error(),
              testing::HasSubstr("tells none"));
  const Machine machine = test::make_machine("64 cpus", {{kPackage, 1}, {kCore, 64}}, 1);
  EXPECT_EQ(*rankfile(machine, {cpus("0-63")}), "rank 0=localhost slot=0:0-63\n");
  EXPECT_THAT(
      rankfile(machine, {cpus("1"), cpus("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30")}).error(),
      testing::HasSubstr(
          "the cores of rank 1 make a list of 74 characters, and Open MPI reads at most 63"));
}

using ::testing::HasSubstr;

class LauncherSettings : public testing::Test {
 protected:
  NodePlacement place(Pattern pattern, const std::vector<std::uint32_t>& threads) const {
    return {machine_, pattern, threads, *place_ranks(pattern, machine_, machine_.allowed, threads)};
  }
  const Machine machine_ =
      test::make_machine("8 cores", {{Level::kPackage, 2}, {Level::kCore, 4}}, 1);
};

TEST_F(LauncherSettings, MapCpuGivesEachRankOneCpu) {
  EXPECT_EQ(*launcher_setting("map_cpu", place(Pattern::kAlternating, {1, 1, 1})),
            "--cpu-bind=map_cpu:0,4,1");
  EXPECT_THAT(launcher_setting("map_cpu", place(Pattern::kPacked, {1, 2})).error(),
              HasSubstr("rank 1 has cpus 1-2"));
}

TEST_F(LauncherSettings, PoliciesNeedOneNumberOfThreads) {
  EXPECT_EQ(*launcher_setting("sockets", place(Pattern::kSockets, {4, 4})),
            "--cpus-per-task=4 --cpu-bind=sockets");
  EXPECT_THAT(launcher_setting("cores", place(Pattern::kSockets, {4, 2})).error(),
              HasSubstr("--cpus-per-task is one number"));
  EXPECT_THAT(launcher_setting("map-by", place(Pattern::kPacked, {4, 2})).error(),
              HasSubstr("PE is one number"));
}

TEST_F(LauncherSettings, OpenMpiKnowsSomePatterns) {
  EXPECT_EQ(*launcher_setting("map-by", place(Pattern::kPacked, {2, 2})),
            "--map-by slot:PE=2 --bind-to core");
  EXPECT_EQ(*launcher_setting("map-by", place(Pattern::kAlternating, {2, 2})),
            "--map-by socket:PE=2 --bind-to core");
  EXPECT_EQ(*launcher_setting("map-by", place(Pattern::kSockets, {2, 2})),
            "--map-by socket --bind-to socket");
  EXPECT_FALSE(launcher_setting("map-by", place(Pattern::kEnds, {1, 1})).ok());
}

TEST_F(LauncherSettings, VariablesNameTheCpus) {
  const NodePlacement node = place(Pattern::kAlternating, {2, 2});
  EXPECT_EQ(*launcher_setting("intel", node), "I_MPI_PIN_DOMAIN=[3,30]");
  EXPECT_EQ(*launcher_setting("mvapich2", node), "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=0,1:4,5");
  EXPECT_EQ(*launcher_setting("pals", node), "--cpu-bind list:0,1:4,5");
  EXPECT_EQ(*place_settings("taskset", node, 1, ProcBind::kSpread),
            "taskset -c 0,1\ntaskset -c 4,5\n");
}

// A name that stands twice would be printed by one launcher only.
TEST_F(LauncherSettings, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Launcher& launcher : known_launchers()) {
    for (const BindingSetting& setting : launcher.settings)
      EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    if (!launcher.line) continue;
    EXPECT_NE(find_setting(launcher.line->setting), nullptr) << launcher.name;
  }
}

}  // namespace
}  // namespace hierbar
