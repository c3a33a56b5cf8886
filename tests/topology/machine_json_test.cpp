// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"
#include "topology/export/machine_json.hpp"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

TEST(MachineJson, HasTheMembersOfTheMachine) {
  Machine machine = test::make_kunpeng();
  machine.allowed = CpuSet::range(0, 63);
  machine.l3_bytes = 33554432;
  machine.load_ns = 42;
  machine.warnings = {"beware"};
  ordered_json json = to_json(machine);
  EXPECT_EQ(json["units"].size(), machine.units.size());
  json.erase("units");
  EXPECT_EQ(json, ordered_json::parse(R"({
    "name": "2 x Kunpeng 920", "num_cores": 128, "num_cpus": 128, "present": "0-127", "allowed": "0-63",
    "line_bytes": 128, "l3_bytes": 33554432, "load_ns": 42,
    "active_levels": ["numa", "package"], "warnings": ["beware"]})"));
}

TEST(MachineJson, DescribesUnits) {
  Machine machine =
      test::make_machine("m", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kCore, 2}});
  machine.allowed = CpuSet::range(0, 2);
  EXPECT_EQ(to_json(machine)["units"], ordered_json::parse(R"([
    {"labels": ["machine"], "active": [], "cpus": "0-3", "num_cpus": 4, "depth": 0, "parent": null, "children": [1, 4]},
    {"labels": ["l3", "package"], "active": ["package"], "cpus": "0-1", "num_cpus": 2, "depth": 1, "parent": 0,
     "children": [2, 3]},
    {"labels": ["core"], "active": [], "cpus": "0", "num_cpus": 1, "depth": 2, "parent": 1, "children": []},
    {"labels": ["core"], "active": [], "cpus": "1", "num_cpus": 1, "depth": 2, "parent": 1, "children": []},
    {"labels": ["l3", "package"], "active": [], "cpus": "2-3", "num_cpus": 2, "depth": 1, "parent": 0, "children": [5, 6]},
    {"labels": ["core"], "active": [], "cpus": "2", "num_cpus": 1, "depth": 2, "parent": 4, "children": []},
    {"labels": ["core"], "active": [], "cpus": "3", "num_cpus": 1, "depth": 2, "parent": 4, "children": []}
  ])"));
}

}  // namespace
}  // namespace hierbar
