// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules for shares of equal ranks, worked out from hwloc's objects and not from our own tree: no
// cpu is in two shares, ranks that have cores of one package have equal shares but for one core,
// the others at least three quarters of an equal one, and the counts that `hierbar place` prints
// are those of hwloc. That no other cuts cross fewer packages and NUMA nodes is
// share_balance_test's.

#include <gtest/gtest.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "placement/share/share.hpp"
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using Sets = std::vector<CpuSet>;

Topology load(const test::KnownTopology& known) {
  hwloc_topology* raw = nullptr;
  hwloc_topology_init(&raw);
  Topology topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  const int problem = known.recorded ? hwloc_topology_set_xml(raw, known.description.c_str())
                                     : hwloc_topology_set_synthetic(raw, known.description.c_str());
  return problem == 0 && hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

CpuSet to_set(hwloc_const_bitmap_t bitmap) {
  CpuSet set;
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu))
    set.set(static_cast<std::uint32_t>(cpu));
  return set;
}

// Distinct ones that have cpus, the largest first.
Sets objects(hwloc_topology* topology, hwloc_obj_type_t type) {
  Sets sets;
  for (hwloc_obj* object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    const CpuSet cpus = to_set(object->cpuset);
    if (!cpus.empty() && std::find(sets.begin(), sets.end(), cpus) == sets.end())
      sets.push_back(cpus);
  }
  std::stable_sort(sets.begin(), sets.end(),
                   [](const CpuSet& a, const CpuSet& b) { return a.count() > b.count(); });
  return sets;
}

// Parts of the machine with memory of their own. Several memories of the same cpus are one, such as
// the two of a quarter of a Knights Landing. Memory of no cpu is none. Of nodes that contain each
// other the inner ones count where they cover the outer one, else the outer one. A node of a part
// of a core counts as none: no machine is known that has one.
Sets memory_parts(hwloc_topology* topology) {
  Sets nodes = objects(topology, HWLOC_OBJ_NUMANODE);
  const Sets cores = objects(topology, HWLOC_OBJ_CORE);
  std::erase_if(nodes, [&](const CpuSet& node) {
    return std::any_of(cores.begin(), cores.end(),
                       [&](const CpuSet& core) { return node != core && node.is_subset_of(core); });
  });
  Sets parts;
  for (const CpuSet& node : nodes) {
    CpuSet inner;
    for (const CpuSet& other : nodes)
      if (other != node && other.is_subset_of(node)) inner |= other;
    const bool is_inside = std::any_of(parts.begin(), parts.end(),
                                       [&](const CpuSet& part) { return node.is_subset_of(part); });
    if (inner != node && !is_inside) parts.push_back(node);
  }
  return parts;
}

std::uint32_t touched(const Sets& sets, const CpuSet& share) {
  return static_cast<std::uint32_t>(std::count_if(
      sets.begin(), sets.end(), [&](const CpuSet& set) { return set.intersects(share); }));
}

class RulesOf : public testing::TestWithParam<test::KnownTopology> {
 protected:
  void SetUp() override {
    if (GetParam().recorded) HIERBAR_NEED_RECORDED(GetParam().description);
    topology_ = load(GetParam());
    ASSERT_NE(topology_, nullptr);
    Result<Machine> machine = load_described_machine(GetParam().description);
    ASSERT_TRUE(machine.ok()) << machine.error();
    machine_ = *machine;
    cores_ = objects(topology_.get(), HWLOC_OBJ_CORE);
    if (cores_.empty()) cores_ = objects(topology_.get(), HWLOC_OBJ_PU);
    std::erase_if(cores_, [&](const CpuSet& core) { return !core.intersects(machine_.allowed); });
  }

  Topology topology_;
  Machine machine_;
  Sets cores_;
};

TEST_P(RulesOf, SharesAreBalancedAndApart) {
  const Sets packages = objects(topology_.get(), HWLOC_OBJ_PACKAGE);
  for (std::uint32_t num_ranks = 1; num_ranks <= 17 && num_ranks <= cores_.size(); ++num_ranks) {
    const auto shares =
        share_out(machine_, machine_.allowed, std::vector<std::uint32_t>(num_ranks, 1));
    ASSERT_TRUE(shares.ok()) << shares.error();
    CpuSet taken;
    for (const CpuSet& share : *shares) {
      EXPECT_FALSE(share.intersects(taken)) << num_ranks << " ranks: " << share.to_string();
      EXPECT_TRUE(share.is_subset_of(machine_.allowed));
      EXPECT_GE(4 * (touched(cores_, share) + 1), 3 * (cores_.size() / num_ranks))
          << num_ranks << " ranks: " << share.to_string();
      taken |= share;
    }
    for (const CpuSet& package : packages) {
      std::uint32_t least = UINT32_MAX, most = 0;
      for (const CpuSet& share : *shares) {
        if (!share.intersects(package)) continue;
        least = std::min(least, touched(cores_, share));
        most = std::max(most, touched(cores_, share));
      }
      EXPECT_TRUE(most == 0 || most - least <= 1)
          << num_ranks << " ranks, package " << package.to_string();
    }
  }
}

TEST_P(RulesOf, CountsAreThoseOfHwloc) {
  const Sets packages = objects(topology_.get(), HWLOC_OBJ_PACKAGE);
  const Sets memories = memory_parts(topology_.get());
  for (std::uint32_t num_ranks = 1; num_ranks <= 17 && num_ranks <= cores_.size(); ++num_ranks) {
    const auto shares =
        share_out(machine_, machine_.allowed, std::vector<std::uint32_t>(num_ranks, 1));
    ASSERT_TRUE(shares.ok()) << shares.error();
    for (const CpuSet& share : *shares) {
      EXPECT_EQ(count_touched(machine_, share, Level::kCore), touched(cores_, share))
          << share.to_string();
      EXPECT_EQ(count_touched(machine_, share, Level::kPackage), touched(packages, share))
          << share.to_string();
      EXPECT_EQ(count_touched(machine_, share, Level::kNuma), touched(memories, share))
          << share.to_string();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RulesOf, testing::ValuesIn(test::known_topologies()),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace
}  // namespace hierbar
