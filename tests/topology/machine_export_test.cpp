// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machines.hpp"
#include "topology/export/machine_image.hpp"
#include "topology/export/machine_text.hpp"

namespace hierbar {
namespace {

// Every field that a Machine has.
void expect_equal(const Machine& a, const Machine& b) {
  EXPECT_EQ(a.present, b.present);
  EXPECT_EQ(a.allowed, b.allowed);
  EXPECT_EQ(a.line_bytes, b.line_bytes);
  EXPECT_EQ(a.l3_bytes, b.l3_bytes);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.load_ns, b.load_ns);
  EXPECT_EQ(a.warnings, b.warnings);
  ASSERT_EQ(a.units.size(), b.units.size());
  for (std::size_t i = 0; i < a.units.size(); ++i) {
    EXPECT_EQ(a.units[i].cpus, b.units[i].cpus);
    EXPECT_EQ(a.units[i].labels, b.units[i].labels);
    EXPECT_EQ(a.units[i].parent, b.units[i].parent);
    EXPECT_EQ(a.units[i].children, b.units[i].children);
    EXPECT_EQ(a.units[i].depth, b.units[i].depth);
  }
}

Machine large_machine() {
  using enum Level;
  return test::make_machine("4096 cpus", {{kPackage, 8}, {kNuma, 4}, {kL3, 4}, {kCore, 16}}, 2);
}

TEST(MachineImage, IsTheSameMachineAgain) {
  Machine marked = test::make_hybrid();
  marked.load_ns = 0x1'2345'6789;
  marked.l3_bytes = 1U << 25;
  marked.warnings = {"first", ""};
  marked.allowed.reset(3);
  for (const Machine& machine :
       {marked, test::make_kunpeng(), test::make_partial_l3(), large_machine()}) {
    const Result<Machine> copy = machine_from_image(machine_image(machine));
    ASSERT_TRUE(copy.ok()) << copy.error();
    expect_equal(*copy, machine);
  }
}

TEST(MachineImage, GrowsWithUnitsAndNotWithCpuNumbers) {
  EXPECT_LT(machine_image(large_machine()).size() * 4, 100'000u);
}

TEST(MachineImage, RefusesWhatIsCutShortOrLonger) {
  std::vector<std::uint32_t> image = machine_image(test::make_hybrid());
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(machine_from_image(std::span(image).first(size)).ok()) << size;
  }
  image.push_back(0);
  EXPECT_FALSE(machine_from_image(image).ok());
}

// Whatever is in the words: an error or a machine, and no look outside.
TEST(MachineImage, SurvivesDamage) {
  const std::vector<std::uint32_t> image = machine_image(test::make_partial_l3());
  int refused = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (const std::uint32_t word : {0U, 1U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
      std::vector<std::uint32_t> damaged = image;
      damaged[i] = word;
      refused += machine_from_image(damaged).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 0);
}

// What is accepted goes into plans, which follow its indices and rely on its order.
TEST(MachineImage, RefusesAMachineThatContradictsItself) {
  using Damage = void (*)(Machine&);
  const std::pair<const char*, Damage> damages[] = {
      {"is not the machine", [](Machine& machine) { machine.present.set(63); }},
      {"not there", [](Machine& machine) { machine.allowed.set(63); }},
      {"lines of", [](Machine& machine) { machine.line_bytes = 1U << 31; }},
      {"lines of", [](Machine& machine) { machine.line_bytes = 0; }},
      {"no part of its parent", [](Machine& machine) { machine.units[1].cpus.set(63); }},
      {"no part of its parent", [](Machine& machine) { machine.units[1].cpus = {}; }},
      {"overlap", [](Machine& machine) { machine.units[1].cpus.set(2); }},
      {"in none of its parts", [](Machine& machine) { machine.units[1].cpus.reset(0); }},
      {"has no core", [](Machine& machine) { machine.units[1].labels = 0; }},
      {"label that is unknown", [](Machine& machine) { machine.units[1].labels |= 1U << 31; }},
      {"label of a unit around it",
       [](Machine& machine) { machine.units[1].labels |= machine.units[0].labels; }},
  };
  for (const auto& [problem, damage] : damages) {
    Machine machine = test::make_hybrid();
    damage(machine);
    const Result<Machine> copy = machine_from_image(machine_image(machine));
    ASSERT_FALSE(copy.ok()) << problem;
    EXPECT_NE(copy.error().find(problem), std::string::npos) << copy.error();
  }
}

// Each unit may take as much memory as the machine has cpu numbers, so they must be few.
TEST(MachineImage, RefusesMoreUnitsThanThereCanBe) {
  Machine machine = test::make_hybrid();
  for (int i = 0; i < 100; ++i) machine.units.push_back(machine.units.back());
  const Result<Machine> copy = machine_from_image(machine_image(machine));
  ASSERT_FALSE(copy.ok());
  EXPECT_NE(copy.error().find("too many units"), std::string::npos) << copy.error();
}

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
  EXPECT_THAT(lines,
              Contains(ContainsRegex("6 x l2 \\+ core +2 cpus +0-1 \\| 2-3 \\| ... \\| 10-11$")));
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
  EXPECT_THAT(describe(machine, Detail::kCollapsed),
              Contains("active levels (*): none, no two allowed cores share one"));
}

TEST(MachineText, LeavesOutCoresOfWhichTheRowAboveTellsAll) {
  const std::vector<test::LevelArity> levels = {{Level::kPackage, 2}, {Level::kCore, 3}};
  EXPECT_THAT(describe(test::make_machine("one cpu each", levels), Detail::kCollapsed),
              Contains(ContainsRegex("^  2 x package\\* +3 cores +0-2 \\| 3-5$")));
  EXPECT_THAT(describe(test::make_machine("one cpu each", levels), Detail::kCollapsed),
              Not(Contains(HasSubstr(" core "))));
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
              AllOf(Contains(ContainsRegex("l2\\* +2 cores +0-1$")),
                    Contains(ContainsRegex("2 x core +1 cpu +2 \\| 3$"))));
}

TEST(MachineText, NamesFewerUnitsWhereTheirListsAreLong) {
  test::MachineBuilder builder;
  int numa[4];
  for (int& node : numa) node = builder.add_unit(0, Level::kNuma);
  for (int i = 0; i < 40; ++i) builder.add_core(numa[i % 4], 1);
  EXPECT_THAT(
      describe(builder.build("interleaved"), Detail::kCollapsed),
      Contains(
          "  4 x numa*  10 cores  0,4,8,12,16,20,24,28,32,36 | ... | 3,7,11,15,19,23,27,31,35,39"));
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
  EXPECT_THAT(describe(machine, Detail::kEveryUnit),
              Contains(ContainsRegex(" 0,2,4[0-9,]*,76,78$")));
}

}  // namespace
}  // namespace hierbar
