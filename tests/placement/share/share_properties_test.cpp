// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What must hold of shares on any machine, on random ones, and what the shares are on known ones,
// for which shares.txt has a section each. HIERBAR_WRITE_GOLDEN=<file> appends the sections there.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "bench/common/random.hpp"
#include "placement/share/share.hpp"
#include "tests/support/machines.hpp"

#ifdef HIERBAR_TOPOLOGIES
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"
#endif

namespace hierbar {
namespace {

using enum Level;
using Threads = std::vector<std::uint32_t>;

// ---- random machines ----

// Units of up to four levels, each of another size, with cores of one to four threads; an L3 may be
// missing in places.
void add_random_units(test::Random& random, test::MachineBuilder& builder, int parent,
                      std::size_t depth) {
  constexpr Level kLevels[] = {kPackage, kNuma, kL3};
  if (depth == std::size(kLevels)) {
    const std::uint32_t num_cores = 1 + random.below(5);
    const int num_threads = 1 + static_cast<int>(random.below(4));
    for (std::uint32_t i = 0; i < num_cores; ++i)
      builder.add_core(parent, random.one_in(8) ? 1 : num_threads);
    return;
  }
  const std::uint32_t num_units = 1 + random.below(3);
  if (num_units == 1)
    return add_random_units(random, builder, parent, depth + 1);  // a level that is not there
  for (std::uint32_t i = 0; i < num_units; ++i) {
    add_random_units(random, builder, builder.add_unit(parent, kLevels[depth]), depth + 1);
  }
}

Machine random_machine(test::Random& random) {
  test::MachineBuilder builder;
  add_random_units(random, builder, 0, 0);
  return builder.build("random");
}

CpuSet random_subset(test::Random& random, const CpuSet& cpus, std::uint32_t one_in) {
  CpuSet subset;
  for (const std::uint32_t cpu : cpus) {
    if (random.one_in(one_in)) subset.set(cpu);
  }
  return subset;
}

TEST(ShareProperties, HoldOnRandomMachines) {
  test::Random random(5);
  int num_checked = 0;
  for (int round = 0; round < 1500; ++round) {
    const Machine machine = random_machine(random);
    const CpuSet pool =
        random.one_in(2) ? machine.present : random_subset(random, machine.present, 2);
    if (pool.empty()) continue;
    Threads threads(1 + random.below(std::min(pool.count(), 12U)));
    for (std::uint32_t& count : threads) count = 1 + random.below(6);
    std::vector<CpuSet> homes(threads.size());
    for (CpuSet& home : homes) home = random_subset(random, pool, 6);
    SCOPED_TRACE("round " + std::to_string(round) + ", pool " + pool.to_string());

    const Result<std::vector<CpuSet>> cut = share_out(machine, pool, threads);
    ASSERT_TRUE(cut.ok()) << cut.error();
    const std::vector<CpuSet> shares = assign_shares(*cut, threads, homes);
    ASSERT_EQ(shares.size(), threads.size());
    CpuSet given;
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      EXPECT_FALSE(shares[rank].empty());
      EXPECT_TRUE(shares[rank].is_subset_of(pool));
      EXPECT_FALSE(shares[rank].intersects(given)) << "rank " << rank;
      given |= shares[rank];
    }
    EXPECT_EQ(given, pool) << "cpus that nobody gets";
    ++num_checked;
  }
  EXPECT_GT(num_checked, 1000);
}

TEST(ShareProperties, ARankAloneGetsEverything) {
  test::Random random(6);
  for (int round = 0; round < 50; ++round) {
    const Machine machine = random_machine(random);
    EXPECT_EQ(share_out(machine, machine.present, {3})->front(), machine.present);
  }
}

// With as many cores for each rank as it has threads, each gets these, whatever the machine.
TEST(ShareProperties, EnoughCoresMeanACoreForEveryThread) {
  test::Random random(7);
  for (int round = 0; round < 500; ++round) {
    const Machine machine = random_machine(random);
    std::uint32_t left = machine.one_cpu_per_core(machine.present).count();
    Threads threads;
    while (left > 0 && threads.size() < 9) {
      threads.push_back(1 + random.below(left));
      left -= threads.back();
    }
    const std::vector<CpuSet> shares = *share_out(machine, machine.present, threads);
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      EXPECT_GE(machine.one_cpu_per_core(shares[rank]).count(), threads[rank])
          << "round " << round << ", rank " << rank;
    }
  }
}

// ---- known machines ----

// How many shares lie in more than one unit of a level although they are no larger than one.
std::size_t num_crossing(const Machine& machine, const std::vector<CpuSet>& shares, Level level) {
  std::uint32_t largest = 0;
  for (const Unit& unit : machine.units) {
    if (unit.has(level)) largest = std::max(largest, (unit.cpus & machine.allowed).count());
  }
  return static_cast<std::size_t>(
      std::count_if(shares.begin(), shares.end(), [&](const CpuSet& share) {
        return share.count() <= largest && count_touched(machine, share, level) > 1;
      }));
}

// All shares if they are few, else the first and the last two, after how many there are of each
// size.
std::string write_shares(const Machine& machine, const std::vector<CpuSet>& shares) {
  std::map<std::uint32_t, int> sizes;
  for (const CpuSet& share : shares) ++sizes[share.count()];
  std::string text;
  for (const auto& [size, count] : sizes) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of " + std::to_string(size);
  }
  for (const Level level : {kPackage, kNuma, kL3}) {
    const std::size_t crossing = num_crossing(machine, shares, level);
    if (crossing > 0)
      text += "; " + std::to_string(crossing) + " across an edge of " + level_name(level);
  }
  text += ":";
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    if (shares.size() > 8 && rank == 2) text += " | ...";
    if (shares.size() > 8 && rank >= 2 && rank + 2 < shares.size()) continue;
    text += (rank == 0 ? " " : " | ") + shares[rank].to_string();
  }
  return text;
}

std::string write_plans(const Machine& machine) {
  const std::uint32_t num_cores = machine.one_cpu_per_core(machine.allowed).count();
  std::string text;
  for (const std::uint32_t num_ranks : std::set<std::uint32_t>{1, 2, 3, 5, 7, num_cores}) {
    for (const std::uint32_t num_threads : std::set<std::uint32_t>{1, num_cores / num_ranks}) {
      if (num_threads == 0) continue;
      const Result<std::vector<CpuSet>> shares =
          share_out(machine, machine.allowed, Threads(num_ranks, num_threads));
      text += std::to_string(num_ranks) + " x " + std::to_string(num_threads) + "  ";
      text += (shares ? write_shares(machine, *shares) : shares.error()) + "\n";
    }
  }
  return text;
}

// The section of shares.txt; empty if there is none.
std::string golden_of(const std::string& name) {
  std::ifstream file(HIERBAR_GOLDEN_FILE);
  std::string section;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== "))
      inside = line == "== " + name + " ==";
    else if (inside && !line.empty())
      section += line + '\n';
  }
  return section;
}

// That the plans of `machine` are those of its section.
void compare_with_golden(const Machine& machine, const std::string& name) {
  const std::string plans = write_plans(machine);
  if (const char* path = std::getenv("HIERBAR_WRITE_GOLDEN")) {
    std::ofstream(path, std::ios::app) << "\n== " << name << " ==\n" << plans;
    GTEST_SKIP() << "wrote " << name;
  }
  EXPECT_EQ(plans, golden_of(name));
}

struct LargeMachine {
  std::string name;
  std::vector<test::LevelArity> levels;
};

class LargeMachines : public testing::TestWithParam<LargeMachine> {};

TEST_P(LargeMachines, HaveTheirPlans) {
  compare_with_golden(test::make_machine(GetParam().name, GetParam().levels, 2), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    All, LargeMachines,
    testing::Values(LargeMachine{"cpus_512", {{kPackage, 2}, {kNuma, 1}, {kL3, 16}, {kCore, 8}}},
                    LargeMachine{"cpus_1280", {{kPackage, 16}, {kNuma, 1}, {kL3, 1}, {kCore, 40}}},
                    LargeMachine{"cpus_4096", {{kPackage, 8}, {kNuma, 4}, {kL3, 4}, {kCore, 16}}}),
    [](const auto& param_info) { return param_info.param.name; });

#ifdef HIERBAR_TOPOLOGIES
class RecordedMachines : public testing::TestWithParam<test::KnownTopology> {};

TEST_P(RecordedMachines, HaveTheirPlans) {
  HIERBAR_NEED_RECORDED(GetParam().description);
  const Result<Machine> machine = load_described_machine(GetParam().description);
  ASSERT_TRUE(machine.ok()) << machine.error();
  compare_with_golden(*machine, GetParam().name);
}

std::vector<test::KnownTopology> recorded_machines() {
  std::vector<test::KnownTopology> topologies = test::known_topologies();
  std::erase_if(topologies, [](const test::KnownTopology& topology) { return !topology.recorded; });
  return topologies;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedMachines, testing::ValuesIn(recorded_machines()),
                         [](const auto& param_info) { return param_info.param.name; });
#endif

}  // namespace
}  // namespace hierbar
