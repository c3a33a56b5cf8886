// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include "plan/groups.hpp"
#include "tests/support/plan_checks.hpp"
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

using test::KnownTopology;

class KnownMachine : public ::testing::TestWithParam<KnownTopology> {
 protected:
  void SetUp() override {
    if (GetParam().recorded) {
      HIERBAR_NEED_RECORDED(GetParam().description);
    }
    Result<Machine> machine = load_described_machine(GetParam().description);
    ASSERT_TRUE(machine.ok()) << machine.error();
    machine_ = *std::move(machine);
  }

  Machine machine_;
};

TEST_P(KnownMachine, PlansKeepTheirPromises) { test::check_plans_of(machine_); }

TEST_P(KnownMachine, EveryParticipantIsOnceInEveryLevelOfGroupsThatItReaches) {
  for (const Mapping mapping : {Mapping::kCore, Mapping::kNuma, Mapping::kPackage}) {
    for (const std::uint32_t num_participants : test::kTeamSizes) {
      SCOPED_TRACE(std::to_string(num_participants) + " participants");
      const std::vector<CpuSet> bindings = *map_participants(machine_, mapping, num_participants);
      const GroupTree tree =
          build_group_tree(locate_all(machine_, bindings), machine_, active_levels(machine_));
      ASSERT_EQ(tree.stepped_aside, "");
      std::vector<std::uint32_t> expected(num_participants);
      for (std::uint32_t i = 0; i < num_participants; ++i) expected[i] = i;
      for (const GroupLevel& level : tree.levels) {
        std::vector<std::uint32_t> members;
        std::vector<std::uint32_t> leaders;
        for (const Group& group : level.groups) {
          members.insert(members.end(), group.members.begin(), group.members.end());
          leaders.push_back(group.leader());
        }
        std::sort(members.begin(), members.end());
        ASSERT_EQ(members, expected);
        expected = leaders;
      }
      ASSERT_EQ(expected, std::vector<std::uint32_t>{0});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownMachine, ::testing::ValuesIn(test::known_topologies()),
                         [](const auto& param_info) { return param_info.param.name; });

// The recorded machine of the paper has its groups.
TEST(RecordedKunpeng, HasTheGroupsOfThePaper) {
  const std::string path = test::recorded_topology("128arm-2pa2n8cluster4co");
  HIERBAR_NEED_RECORDED(path);
  const Machine machine = *load_described_machine(path);
  const std::vector<CpuSet> bindings = *map_participants(machine, Mapping::kNuma, 14);
  const GroupTree tree =
      build_group_tree(locate_all(machine, bindings), machine, active_levels(machine));
  ASSERT_EQ(tree.levels.size(), 3U);
  EXPECT_EQ(tree.levels[0].groups.size(), 4U);
  EXPECT_THAT(tree.levels[0].groups[0].members, ::testing::ElementsAre(0U, 4U, 8U, 12U));
  EXPECT_THAT(tree.levels[2].groups[0].members, ::testing::ElementsAre(0U, 2U));
}

}  // namespace
}  // namespace hierbar
