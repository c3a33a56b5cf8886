// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/machine_text.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(MachineText, ShowsA128CoreMachineInElevenLines) {
  Machine machine = test::make_kunpeng();
  machine.l3_bytes = 32U << 20;
  machine.load_ns = 3'900'000;
  EXPECT_THAT(describe(machine, Detail::kCollapsed),
              ElementsAre("2 x Kunpeng 920",                                                   //
                          "128 cores, 128 cpus (0-127), all allowed",                          //
                          "coherence lines of 128 bytes, L3 of 32 MiB; loaded in 3.9 ms",      //
                          "active levels (*): numa (4 of 32 cores), package (2 of 64 cores)",  //
                          "",                                                                  //
                          "unit                   holds      cpus",                            //
                          "machine                128 cores  0-127",                           //
                          "  2 x package*         64 cores   0-63 | 64-127",                   //
                          "    2 x numa* + l3     32 cores   0-31 | 32-63",                    //
                          "      8 x cluster      4 cores    0-3 | 4-7 | ... | 28-31",         //
                          "        4 x l2 + core  1 cpu      0 | 1 | 2 | 3"));
}

TEST(MachineText, ShowsEveryUnitOnRequest) {
  const Machine machine = test::make_kunpeng();
  const std::vector<std::string> lines = describe(machine, Detail::kEveryUnit);
  EXPECT_EQ(lines.size(), 6 + machine.units.size());
  EXPECT_THAT(lines, Contains(ContainsRegex("^ +l2 \\+ core +1 cpu +127$")));
}

TEST(MachineText, KeepsDifferentNeighboursApart) {
  const std::vector<std::string> lines = describe(test::make_hybrid(), Detail::kCollapsed);
  EXPECT_THAT(lines, Contains(ContainsRegex("6 x l2 \\+ core +2 cpus +0-1 \\| 2-3 \\| ... \\| 10-11$")));
  EXPECT_THAT(lines, Contains(ContainsRegex("2 x l2\\* +4 cores +12-15 \\| 16-19$")));
}

TEST(MachineText, ShowsWhatIsNotAllowedAndMarksOnlyWhatIsShared) {
  Machine machine = test::make_machine("small", {{Level::kPackage, 3}, {Level::kCore, 2}}, 2);
  machine.allowed = *CpuSet::parse("0,2,4");
  const std::vector<std::string> lines = describe(machine, Detail::kCollapsed);
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("12 cpus (0-11)"), HasSubstr("3 allowed (0,2,4)"))));
  EXPECT_THAT(lines, Contains(HasSubstr("active levels (*): package (1 of 2 cores)")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^  package\\* +2 cores, 2 cpus allowed +0-3$")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^  package +2 cores, 1 cpu allowed +4-7$")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^  package +2 cores, none allowed +8-11$")));
}

TEST(MachineText, SaysThatNoLevelIsActive) {
  const Machine machine = test::make_machine("small", {{Level::kCore, 2}});
  EXPECT_THAT(describe(machine, Detail::kCollapsed), Contains("active levels (*): none, no two allowed cores share one"));
}

TEST(MachineText, LeavesOutCoresOfWhichTheRowAboveTellsAll) {
  const std::vector<test::LevelArity> levels = {{Level::kPackage, 2}, {Level::kCore, 3}};
  EXPECT_THAT(describe(test::make_machine("one cpu each", levels), Detail::kCollapsed),
              Contains(ContainsRegex("^  2 x package\\* +3 cores +0-2 \\| 3-5$")));
  EXPECT_THAT(describe(test::make_machine("one cpu each", levels), Detail::kCollapsed), Not(Contains(HasSubstr(" core "))));
  EXPECT_THAT(describe(test::make_machine("one cpu each", levels), Detail::kEveryUnit),
              Contains(ContainsRegex("^    core +1 cpu +5$")));
  EXPECT_THAT(describe(test::make_machine("two cpus each", levels, 2), Detail::kCollapsed),
              Contains(ContainsRegex("^    3 x core +2 cpus +0-1 \\| 2-3 \\| 4-5$")));
}

TEST(MachineText, ShowsCoresBesideOtherUnits) {
  test::MachineBuilder builder;
  const int package = builder.add_unit(0, Level::kPackage);
  const int l2 = builder.add_unit(package, Level::kL2);
  for (const int parent : {l2, l2, package, package}) builder.add_core(parent, 1);
  EXPECT_THAT(describe(builder.build("half"), Detail::kCollapsed),
              AllOf(Contains(ContainsRegex("l2\\* +2 cores +0-1$")), Contains(ContainsRegex("2 x core +1 cpu +2 \\| 3$"))));
}

TEST(MachineText, NamesFewerUnitsWhereTheirListsAreLong) {
  test::MachineBuilder builder;
  int numa[4];
  for (int& node : numa) node = builder.add_unit(0, Level::kNuma);
  for (int i = 0; i < 40; ++i) builder.add_core(numa[i % 4], 1);
  EXPECT_THAT(describe(builder.build("interleaved"), Detail::kCollapsed),
              Contains("  4 x numa*  10 cores  0,4,8,12,16,20,24,28,32,36 | ... | 3,7,11,15,19,23,27,31,35,39"));
}

TEST(MachineText, CutsLongListsUnlessEveryUnitIsWanted) {
  test::MachineBuilder builder;
  const int even = builder.add_unit(0, Level::kNuma);
  const int odd = builder.add_unit(0, Level::kNuma);
  for (int i = 0; i < 40; ++i) {
    builder.add_core(even, 1);
    builder.add_core(odd, 1);
  }
  const Machine machine = builder.build("interleaved");
  EXPECT_THAT(describe(machine, Detail::kCollapsed),
              Contains(ContainsRegex(" 0,2,4[0-9,]*,\\.\\.\\. \\| 1,3,5[0-9,]*,\\.\\.\\.$")));
  EXPECT_THAT(describe(machine, Detail::kEveryUnit), Contains(ContainsRegex(" 0,2,4[0-9,]*,76,78$")));
}

}  // namespace
}  // namespace hierbar
