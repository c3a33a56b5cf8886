// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// That Open MPI reads a rankfile as it is meant, on machines of all kinds. Its rules are done here
// with hwloc, as Open MPI 4 and PRRTE (Open MPI 5) have them: in "slot=P:A-B,Q:C", P is the number
// of a package in hwloc's order and A the number of a core among those of that package, or of a cpu
// if the machine tells no cores. What a cgroup or the kernel keeps from the job is not counted.
// Open MPI 4 copies the text into an array of 64 bytes, and does not look how long it is.

#include <gtest/gtest.h>
#include <hwloc.h>

#include <memory>
#include <sstream>

#include "placement/share/launcher_settings.hpp"
#include "placement/share/pattern.hpp"
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

constexpr std::size_t kLongestSlot = 63;

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load_as_open_mpi(const test::KnownTopology& known) {
  hwloc_topology* raw = nullptr;
  hwloc_topology_init(&raw);
  Topology topology(raw);
  const int problem = known.recorded ? hwloc_topology_set_xml(raw, known.description.c_str())
                                     : hwloc_topology_set_synthetic(raw, known.description.c_str());
  return problem == 0 && hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

void add(CpuSet& set, hwloc_const_bitmap_t bitmap) {
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu))
    set.set(static_cast<std::uint32_t>(cpu));
}

int depth_of_cores(hwloc_topology* topology) {
  const int depth = hwloc_get_type_depth(topology, HWLOC_OBJ_CORE);
  return depth >= 0 ? depth : hwloc_get_type_depth(topology, HWLOC_OBJ_PU);
}

// The cpus of "0:0-3,1:2". Empty if a package or a core is not there.
CpuSet read_slot(hwloc_topology* topology, const std::string& slot) {
  CpuSet cpus;
  std::istringstream items(slot);
  for (std::string item; std::getline(items, item, ',');) {
    unsigned package = 0, first = 0, last = 0;
    const int count = std::sscanf(item.c_str(), "%u:%u-%u", &package, &first, &last);
    if (count == 2) last = first;
    hwloc_obj* const found =
        count < 2 ? nullptr : hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package);
    if (found == nullptr) return {};
    for (unsigned core = first; core <= last; ++core) {
      hwloc_obj* const at = hwloc_get_obj_inside_cpuset_by_depth(topology, found->cpuset,
                                                                 depth_of_cores(topology), core);
      if (at == nullptr) return {};
      add(cpus, at->cpuset);
    }
  }
  return cpus;
}

// The whole cores of which a share has a part.
CpuSet whole_cores(hwloc_topology* topology, const CpuSet& share) {
  CpuSet cpus;
  for (hwloc_obj* core = nullptr;
       (core = hwloc_get_next_obj_by_depth(topology, depth_of_cores(topology), core)) != nullptr;) {
    CpuSet own;
    add(own, core->cpuset);
    if (own.intersects(share)) cpus |= own;
  }
  return cpus;
}

class RankfileOf : public testing::TestWithParam<test::KnownTopology> {
 protected:
  void check(const std::string& file, const std::vector<CpuSet>& shares, hwloc_topology* topology) {
    std::istringstream lines(file);
    std::size_t rank = 0;
    for (std::string line; std::getline(lines, line); ++rank) {
      const std::string slot = line.substr(line.find("slot=") + 5);
      ASSERT_LT(rank, shares.size());
      EXPECT_LE(slot.size(), kLongestSlot) << line;
      EXPECT_EQ(read_slot(topology, slot), whole_cores(topology, shares[rank]))
          << line << ", of " << shares[rank].to_string();
    }
    EXPECT_EQ(rank, shares.size());
  }
};

TEST_P(RankfileOf, NamesTheCoresOfEachShare) {
  if (GetParam().recorded) HIERBAR_NEED_RECORDED(GetParam().description);
  const Topology topology = load_as_open_mpi(GetParam());
  ASSERT_NE(topology, nullptr);
  const Result<Machine> machine = load_described_machine(GetParam().description);
  ASSERT_TRUE(machine.ok()) << machine.error();
  const bool has_packages = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0) != nullptr;
  std::uint32_t num_written = 0;
  for (const Pattern pattern : {Pattern::kShare, Pattern::kPacked, Pattern::kAlternating}) {
    for (const std::uint32_t num_ranks : {1U, 2U, 3U, 4U, 7U, 16U}) {
      const auto shares = place_ranks(pattern, *machine, machine->allowed,
                                      std::vector<std::uint32_t>(num_ranks, 1));
      if (!shares.ok()) continue;
      const Result<std::string> file = rankfile(*machine, *shares);
      EXPECT_TRUE(has_packages || !file.ok()) << "without packages there is no P in P:A";
      if (!file.ok()) continue;
      ++num_written;
      check(*file, *shares, topology.get());
    }
  }
  EXPECT_EQ(num_written > 0, has_packages) << "one rank can always be named";
}

INSTANTIATE_TEST_SUITE_P(Machines, RankfileOf, testing::ValuesIn(test::known_topologies()),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace
}  // namespace hierbar
