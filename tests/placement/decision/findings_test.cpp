// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/findings.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two packages of two NUMA nodes of four cores; with smt 2, cpus 2i and 2i + 1 are core i's.
Machine sixteen_cores(int smt = 1) {
  using enum Level;
  return test::make_machine("16 cores", {{kPackage, 2}, {kNuma, 2}, {kCore, 4}}, smt);
}

RankView rank(const Machine& machine, std::uint32_t number, const char* mask, std::uint32_t threads,
              const char* places = nullptr) {
  const std::string count = std::to_string(threads);
  const CpuSet cpus = *CpuSet::parse(mask);
  return {number, cpus, predict_team(machine, cpus, [&](const char* name) -> const char* {
            if (std::string(name) == "OMP_NUM_THREADS") return count.c_str();
            return std::string(name) == "OMP_PLACES" ? places : nullptr;
          })};
}

std::vector<std::string> lines(const NodeView& node) {
  std::vector<std::string> result;
  for (const Finding& finding : find_problems(node)) {
    EXPECT_FALSE(finding.advice.empty());
    result.push_back(std::string(finding_name(finding.kind)) + " " + join_ranks(finding.ranks) +
                     ": " + finding.what + " [" + finding.where + "]");
  }
  return result;
}

TEST(Findings, AreNoneWhenEachThreadHasACore) {
  const Machine machine = sixteen_cores();
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-7", 8), rank(machine, 1, "8-15", 8)}}),
              IsEmpty());
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-15", 4)}}), IsEmpty());
}

TEST(Findings, NameThreadsThatAreStackedInARank) {
  const Machine machine = sixteen_cores();
  EXPECT_THAT(
      lines({machine, {rank(machine, 0, "0", 4), rank(machine, 1, "1", 4)}}),
      ElementsAre("stacked-threads 0-1: 4 threads on 1 cpu [rank 0: cpu 0; rank 1: cpu 1]"));
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-3", 3, "{0},{1}")}}),
              ElementsAre("stacked-threads 0: 2 threads on 1 cpu [rank 0: cpu 0]"));
}

TEST(Findings, NameRanksThatAllStartAtTheSamePlace) {
  const Machine machine = sixteen_cores();
  const std::vector<RankView> ranks = {rank(machine, 0, "0-15", 4, "{0},{1},{2},{3}"),
                                       rank(machine, 1, "0-15", 4, "{0},{1},{2},{3}")};
  EXPECT_THAT(lines({machine, ranks}),
              ElementsAre(HasSubstr("stacked-threads 0-1: 8 threads on 4 cpus"),
                          "overlapping-ranks 0-1: 2 ranks may run on the same cpus, 8 threads on "
                          "16 cpus [cpus 0-15]"));
  EXPECT_THAT(lines({machine,
                     {rank(machine, 0, "0-3", 4), rank(machine, 1, "2-3", 2),
                      rank(machine, 2, "8-11", 4)}}),
              ElementsAre(HasSubstr("overlapping-ranks 0-1: 2 ranks may run on the same cpus, 6 "
                                    "threads on 4 cpus [cpus 0-3]")));
}

// Settings that give each thread a cpu of its own exist only where there are as many cpus.
TEST(Findings, AdviseFewerRanksWhereCpusAreMissing) {
  const Machine machine = sixteen_cores();
  const auto advice = [&](std::uint32_t threads) {
    const std::vector<Finding> found = find_problems(
        {machine, {rank(machine, 0, "0-15", threads), rank(machine, 1, "0-15", threads)}});
    return found.empty() ? "" : found.back().advice;
  };
  EXPECT_THAT(advice(8), HasSubstr("give each rank its own cpus: 'hierbar place'"));
  EXPECT_THAT(advice(9), HasSubstr("start fewer ranks or threads, or take more cpus"));
}

TEST(Findings, NameMasksThatCrossUnitsWithoutNeed) {
  const Machine machine = sixteen_cores();
  const std::vector<RankView> crossing = {rank(machine, 0, "0-5", 4), rank(machine, 1, "6-9", 4)};
  EXPECT_THAT(
      lines({.machine = machine, .ranks = crossing, .grant = machine.allowed}),
      ElementsAre("split-package 1: bound to parts of 2 packages without need [rank 1: cpus 6-9]"));
  EXPECT_THAT(lines({machine, crossing}), IsEmpty()) << "of cpus 0-9 alone nobody could do better";
  EXPECT_THAT(
      lines({machine, {rank(machine, 0, "0-1,6-7", 2), rank(machine, 1, "2-5", 2)}}),
      ElementsAre(HasSubstr("split-numa 0-1: bound to parts of 2 NUMA nodes without need")));
  EXPECT_THAT(lines({machine,
                     {rank(machine, 0, "0-4", 5), rank(machine, 1, "5-9", 5),
                      rank(machine, 2, "10-14", 5)}}),
              IsEmpty())
      << "of three ranks with five threads one has to cross";
}

TEST(Findings, NameHardwareThreadsThatShareACore) {
  const Machine machine = sixteen_cores(2);
  EXPECT_THAT(
      lines({machine, {rank(machine, 0, "0-3", 4)}}),
      ElementsAre(
          "smt-sharing 0: 4 threads on 2 cores while there are cores for all [rank 0: cpus 0-3]"));
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0", 1), rank(machine, 1, "1", 1)}}),
              ElementsAre(HasSubstr(
                  "smt-sharing 1: shares a core with another rank while there are cores for all")));
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-15", 16), rank(machine, 1, "16-31", 16)}}),
              IsEmpty())
      << "all cores are in use";
}

TEST(Findings, NameCpusThatAreOfflineOrForeign) {
  const Machine machine = sixteen_cores();
  EXPECT_THAT(
      lines({machine, {rank(machine, 0, "14-17", 2)}}),
      ElementsAre("offline-cpus 0: bound to cpus that are not online [rank 0: cpus 16-17]"));
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-31", 2)}}), IsEmpty()) << "not bound at all";
  EXPECT_THAT(lines({machine, {rank(machine, 0, "0-3", 1, "{0},{9}")}}),
              ElementsAre(HasSubstr("foreign-cpus 0: OMP_PLACES names cpus that the rank may not "
                                    "use, which OpenMP leaves out "
                                    "[rank 0: cpu 9]")));
  EXPECT_THAT(
      lines({.machine = machine,
             .ranks = {rank(machine, 0, "0-3", 4)},
             .grant = CpuSet::range(0, 1)}),
      ElementsAre(
          "foreign-cpus 0: bound to cpus that its launcher was not given [rank 0: cpus 2-3]"));
}

TEST(Findings, NameAQuotaThatIsTooSmall) {
  const Machine machine = sixteen_cores();
  const std::vector<RankView> ranks = {rank(machine, 0, "0-3", 4)};
  EXPECT_THAT(
      lines({.machine = machine, .ranks = ranks, .quota = 2}),
      ElementsAre(HasSubstr("quota 0: 4 threads, but control groups leave time for 2 cpus")));
  EXPECT_THAT(lines({.machine = machine, .ranks = ranks, .quota = 4}), IsEmpty());
}

TEST(Findings, ListAFewOfManyRanks) {
  const Machine machine = sixteen_cores();
  std::vector<RankView> ranks;
  for (std::uint32_t i = 0; i < 6; ++i)
    ranks.push_back(rank(machine, i, std::to_string(i).c_str(), 2));
  EXPECT_THAT(lines({machine, ranks}),
              ElementsAre("stacked-threads 0-5: 2 threads on 1 cpu [rank 0: cpu 0; rank 1: cpu 1; "
                          "rank 2: cpu 2; rank 3: cpu 3; ...]"));
}

}  // namespace
}  // namespace hierbar
