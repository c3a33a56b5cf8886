// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <random>

#include "plan/shape.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_checks.hpp"

namespace hierbar {
namespace {

TEST(ShapeProperties, HoldOnRegularMachines) {
  using enum Level;
  const std::vector<std::pair<std::vector<test::LevelArity>, int>> machines = {
      {{{kCore, 1}}, 1},
      {{{kPackage, 1}, {kL3, 1}, {kCore, 2}}, 1},
      {{{kPackage, 1}, {kNuma, 1}, {kL3, 1}, {kCore, 6}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 1}, {kCore, 28}}, 2},
      {{{kPackage, 2}, {kNuma, 4}, {kL3, 2}, {kCore, 8}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 16}, {kCore, 4}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 10}, {kCore, 2}}, 4},
      {{{kPackage, 2}, {kL3, 1}, {kNuma, 4}, {kCore, 14}}, 2},
      {{{kPackage, 1}, {kNuma, 4}, {kL2, 9}, {kCore, 2}}, 4},
      {{{kPackage, 1}, {kNuma, 4}, {kL2, 1}, {kCore, 12}}, 1},
      {{{kPackage, 4}, {kDie, 2}, {kNuma, 1}, {kL3, 4}, {kCore, 8}}, 1},
      {{{kPackage, 3}, {kNuma, 5}, {kCluster, 3}, {kCore, 3}}, 1},
  };
  for (std::size_t i = 0; i < machines.size(); ++i) {
    test::check_plans_of(test::make_machine("machine " + std::to_string(i), machines[i].first, machines[i].second));
  }
  test::check_plans_of(test::make_kunpeng());
}

TEST(ShapeProperties, HoldOnAsymmetricMachines) {
  test::check_plans_of(test::make_hybrid());
  test::check_plans_of(test::make_partial_l3());
}

TEST(ShapeProperties, HoldForOversubscribedTeams) {
  for (const std::uint32_t num_cpus : {1, 16, 64}) {
    test::check_plans_of(test::make_kunpeng(), ShapeOptions{.num_cpus = num_cpus});
    test::check_plans_of(test::make_partial_l3(), ShapeOptions{.num_cpus = num_cpus});
  }
}

TEST(ShapeProperties, HoldForEveryWantedLevelAndPageSize) {
  for (const Level level : {Level::kL2, Level::kCluster, Level::kL3, Level::kNuma, Level::kPackage, Level::kMachine}) {
    test::check_plans_of(test::make_kunpeng(), ShapeOptions{.domain_level = level});
    test::check_plans_of(test::make_hybrid(), ShapeOptions{.domain_level = level, .page_bytes = 65536});
  }
}

// Adds up to four levels of random arity and label below a unit.
void grow(test::MachineBuilder& builder, int unit, int level, std::mt19937& random) {
  const int num_children = 1 + static_cast<int>(random() % 5);
  for (int i = 0; i < num_children; ++i) {
    const int below = level - 1 - static_cast<int>(random() % 2);
    if (below <= static_cast<int>(Level::kCore)) {
      builder.add_core(unit, 1 + static_cast<int>(random() % 2));
    } else {
      const int child = builder.add_unit(unit, static_cast<Level>(below));
      builder.add_core(child, 1);  // a unit has more than one core, or it would not be distinct
      grow(builder, child, below, random);
    }
  }
}

TEST(ShapeProperties, HoldOnRandomMachines) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    test::MachineBuilder builder;
    grow(builder, 0, static_cast<int>(Level::kMachine), random);
    test::check_plans_of(builder.build("random machine of seed " + std::to_string(seed)));
    if (HasFailure()) return;
  }
}

TEST(ShapeProperties, HoldForRandomBindings) {
  const Machine machine =
      test::make_machine("2 x EPYC 7742", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 16}, {Level::kCore, 4}}, 2);
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<LocalityPath> paths(1 + random() % 200);
    for (LocalityPath& path : paths) {
      CpuSet binding;
      const std::uint32_t width = random() % 3 == 0 ? 1U << random() % 9 : 1;
      const std::uint32_t first = random() % 256;
      for (std::uint32_t cpu = first; cpu < std::min(256U, first + width); ++cpu) binding.set(cpu);
      if (random() % 10 != 0) path = locate(machine, binding);
    }
    const EnginePlan plan = *build_engine_plan(paths, machine, {});
    test::check_forest(plan.view());
    test::check_depth_and_arity(plan.view());
    test::check_slots(plan.view(), machine, paths, 4096);
    test::check_domains(plan.view(), machine, paths, {});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hierbar
