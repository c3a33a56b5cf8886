// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/machine_image.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"

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
  for (const Machine& machine : {marked, test::make_kunpeng(), test::make_partial_l3(), large_machine()}) {
    const Result<Machine> copy = machine_from_image(machine_image(machine));
    ASSERT_TRUE(copy.ok()) << copy.error();
    expect_equal(*copy, machine);
  }
}

TEST(MachineImage, GrowsWithUnitsAndNotWithCpuNumbers) { EXPECT_LT(machine_image(large_machine()).size() * 4, 100'000u); }

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
      {"label of a unit around it", [](Machine& machine) { machine.units[1].labels |= machine.units[0].labels; }},
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

}  // namespace
}  // namespace hierbar
