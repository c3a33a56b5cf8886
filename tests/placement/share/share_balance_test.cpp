// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// That shares of equal ranks are balanced on machines of any shape, and that no other balanced
// shares cross fewer units: both are compared with all choices that there are.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <vector>

#include "placement/share/places.hpp"
#include "placement/share/share.hpp"
#include "tests/support/machines.hpp"

#ifdef HIERBAR_TOPOLOGIES
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"
#endif

namespace hierbar {
namespace {

using enum Level;

// How many cuts fall on edges of NUMA nodes, and of L3 caches; the first counts more.
using Edges = std::array<int, 2>;

Edges operator+(const Edges& one, const Edges& other) {
  return {one[0] + other[0], one[1] + other[1]};
}

// The machine's cores as a row, and where units of a level end in it.
class Cores {
 public:
  explicit Cores(const Machine& machine)
      : cores_(cores_of(machine, machine.allowed)),
        packages_(edges_of(machine, kPackage)),
        numas_(edges_of(machine, kNuma)),
        caches_(edges_of(machine, kL3)) {}

  std::size_t size() const { return cores_.size(); }
  bool ends_package(std::size_t position) const { return packages_[position]; }
  Edges edges(std::size_t position) const {
    return {numas_[position] ? 1 : 0, caches_[position] ? 1 : 0};
  }

  // Where a share that consists of whole cores, one after the other, ends.
  std::size_t end_of(const CpuSet& share, std::size_t begin) const {
    std::size_t end = begin;
    CpuSet seen;
    while (end < size() && cores_[end].is_subset_of(share)) seen |= cores_[end++];
    EXPECT_EQ(seen, share) << "no whole cores that follow each other";
    return end;
  }

 private:
  std::vector<bool> edges_of(const Machine& machine, Level level) const {
    std::vector<int> unit_of(size(), -1);
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t unit = 0; unit < machine.units.size(); ++unit) {
        const Unit& candidate = machine.units[unit];
        if (candidate.has(level) && candidate.cpus.intersects(cores_[i]))
          unit_of[i] = static_cast<int>(unit);
      }
    }
    std::vector<bool> edges(size() + 1);
    for (std::size_t i = 1; i < size(); ++i) edges[i] = unit_of[i] != unit_of[i - 1];
    return edges;
  }

  std::vector<CpuSet> cores_;
  std::vector<bool> packages_, numas_, caches_;
};

// The most edges that balanced cuts between two positions can have, over all orders of larger and
// smaller shares.
Edges most_edges(const Cores& cores, std::size_t begin, std::size_t end, std::size_t num_ranks) {
  const std::size_t size = (end - begin) / num_ranks;
  const std::size_t num_larger = (end - begin) % num_ranks;
  // By how many of the ranks so far have the larger share.
  std::vector<Edges> best(num_larger + 1, Edges{-1, -1});
  best[0] = {0, 0};
  for (std::size_t rank = 1; rank < num_ranks; ++rank) {
    std::vector<Edges> next(num_larger + 1, Edges{-1, -1});
    for (std::size_t larger = 0; larger <= std::min(rank, num_larger); ++larger) {
      const Edges before = larger == 0 ? best[0] : std::max(best[larger], best[larger - 1]);
      if (before[0] >= 0) next[larger] = before + cores.edges(begin + rank * size + larger);
    }
    best = std::move(next);
  }
  return num_larger == 0 ? best[0] : std::max(best[num_larger], best[num_larger - 1]);
}

// A cut between packages, and whether a NUMA node ends there, too: nodes may hold several packages.
Edges package_cut(const Cores& cores, std::size_t position) {
  return {1, cores.edges(position)[0]};
}

// The most cuts between packages that leave every rank three quarters of its part and one core.
Edges most_package_cuts(const Cores& cores, std::size_t num_ranks) {
  const std::size_t least =
      std::max<std::size_t>(1, static_cast<std::size_t>(0.75 * static_cast<double>(cores.size()) /
                                                        static_cast<double>(num_ranks)));
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= cores.size(); ++i) {
    if (i == cores.size() || cores.ends_package(i)) ends.push_back(i);
  }
  // most[i][k]: with a cut at ends[i] after k ranks; -1 if that cannot be.
  std::vector<std::vector<Edges>> most(ends.size(),
                                       std::vector<Edges>(num_ranks + 1, Edges{-1, -1}));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t used = 1; used <= num_ranks; ++used) {
      if (used * least <= ends[i]) most[i][used] = {0, 0};
      for (std::size_t j = 0; j < i; ++j) {
        for (std::size_t before = 1; before < used; ++before) {
          if (most[j][before][0] < 0 || (used - before) * least > ends[i] - ends[j]) continue;
          most[i][used] = std::max(most[i][used], most[j][before] + package_cut(cores, ends[j]));
        }
      }
    }
  }
  return most.back()[num_ranks];
}

// Shares between two cuts that fall between packages.
void check_segment(const Cores& cores, std::size_t begin, const std::vector<std::size_t>& ends) {
  std::set<std::size_t> sizes;
  Edges edges{};
  std::size_t last = begin;
  for (const std::size_t end : ends) {
    sizes.insert(end - last);
    last = end;
    if (end != ends.back()) edges = edges + cores.edges(end);
  }
  EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 1U)
      << "cores " << begin << " to " << last << ": not balanced";
  if (*sizes.rbegin() - *sizes.begin() > 1) return;
  EXPECT_EQ(edges, most_edges(cores, begin, last, ends.size()))
      << "cores " << begin << " to " << last;
}

void check(const Machine& machine, std::uint32_t num_ranks) {
  SCOPED_TRACE(machine.name + ", " + std::to_string(num_ranks) + " ranks");
  const Cores cores(machine);
  const Result<std::vector<CpuSet>> shares =
      share_out(machine, machine.allowed, std::vector<std::uint32_t>(num_ranks, 1));
  ASSERT_TRUE(shares.ok()) << shares.error();
  Edges package_cuts{};
  std::size_t begin = 0;
  std::vector<std::size_t> ends;
  for (const CpuSet& share : *shares) {
    ends.push_back(cores.end_of(share, ends.empty() ? begin : ends.back()));
    const bool is_last = ends.back() == cores.size();
    if (!is_last && !cores.ends_package(ends.back())) continue;
    check_segment(cores, begin, ends);
    begin = ends.back();
    ends.clear();
    if (!is_last) package_cuts = package_cuts + package_cut(cores, begin);
  }
  EXPECT_EQ(begin, cores.size());
  EXPECT_EQ(package_cuts, most_package_cuts(cores, num_ranks));
}

std::set<std::uint32_t> some_numbers(const Machine& machine) {
  const auto num_cores = static_cast<std::uint32_t>(cores_of(machine, machine.allowed).size());
  std::set<std::uint32_t> numbers;
  for (const std::uint32_t number : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 9U, 11U, 13U, 15U, 16U, 21U, 31U,
                                     num_cores / 2, num_cores - 1, num_cores}) {
    if (number >= 1 && number <= std::min(num_cores, 96U)) numbers.insert(number);
  }
  return numbers;
}

TEST(ShareBalance, HoldsOnMachinesOfEveryShape) {
  for (const int packages : {1, 2, 4, 8}) {
    for (const int nodes : {1, 2, 3, 4}) {
      for (const int caches : {1, 2, 4}) {
        for (const int cores : {1, 2, 3, 6, 8}) {
          const std::string name = std::to_string(packages) + " packages x " +
                                   std::to_string(nodes) + " nodes x " + std::to_string(caches) +
                                   " L3 x " + std::to_string(cores) + " cores";
          const Machine machine = test::make_machine(
              name, {{kPackage, packages}, {kNuma, nodes}, {kL3, caches}, {kCore, cores}}, 2);
          for (const std::uint32_t number : some_numbers(machine)) check(machine, number);
          if (testing::Test::HasFailure()) return;  // each shape would say the same
        }
      }
    }
  }
}

std::vector<std::uint32_t> sizes_of(int packages, int cores, std::uint32_t num_ranks) {
  const Machine machine = test::make_machine("flat", {{kPackage, packages}, {kCore, cores}}, 1);
  std::vector<std::uint32_t> sizes;
  const Result<std::vector<CpuSet>> shares =
      share_out(machine, machine.allowed, std::vector<std::uint32_t>(num_ranks, 1));
  for (const CpuSet& share : *shares) sizes.push_back(share.count());
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

TEST(ShareBalance, GivesNoRankTwiceWhatAnotherGets) {
  using testing::AllOf;
  using testing::Each;
  using testing::Ge;
  using testing::Le;
  EXPECT_THAT(sizes_of(2, 96, 11), Each(AllOf(Ge(16U), Le(20U))));
  EXPECT_THAT(sizes_of(4, 32, 15), Each(AllOf(Ge(8U), Le(11U))));
}

#ifdef HIERBAR_TOPOLOGIES
class KnownMachines : public testing::TestWithParam<test::KnownTopology> {};

TEST_P(KnownMachines, HaveBalancedShares) {
  if (GetParam().recorded) {
    HIERBAR_NEED_RECORDED(GetParam().description);
  }
  const Result<Machine> machine = load_described_machine(GetParam().description);
  ASSERT_TRUE(machine.ok()) << machine.error();
  for (const std::uint32_t number : some_numbers(*machine)) check(*machine, number);
}

INSTANTIATE_TEST_SUITE_P(All, KnownMachines, testing::ValuesIn(test::known_topologies()),
                         [](const auto& param_info) { return param_info.param.name; });
#endif

}  // namespace
}  // namespace hierbar
