// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What merging the reports of many ranks takes: by how much it grows, in bytes that are allocated.

#include "report/merge.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "report/report.hpp"
#include "report/team.hpp"

namespace {
std::uint64_t num_bytes = 0;  // ever allocated, by this one thread
}

// NOLINTBEGIN: the program's allocation functions
void* operator new(std::size_t size) {
  num_bytes += size;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// std::stable_sort() takes its buffer from this one.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  num_bytes += size;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace hierbar::report {
namespace {

using ::testing::ElementsAre;

// What a rank reports of a barrier of all ranks, and of one of its own two threads. The first ranks
// have seen the whole team's shape.
Report report_of(std::uint32_t rank, std::uint32_t num_ranks) {
  Report report;
  report.process = {
      .host = "node" + std::to_string(rank / 64), .pid = 7, .rank = static_cast<long>(rank)};
  const Shape shape(1, std::vector<std::uint32_t>(num_ranks, 0));
  RecordedTeam::Tables tables;
  const Site site{reinterpret_cast<const void*>(0x1000), kMpiBarrier, num_ranks};
  ThreadTimes& times = tables.threads.at(site);
  times.imbalance.add(100 + rank);
  times.sync.add(50);
  times.last_arrivals = rank % 3;
  BarrierTimes& barriers = tables.barriers.at(site);
  barriers.span.add(200);
  barriers.levels = std::make_unique<LevelTimes>();
  barriers.shape = &shape;
  add_tables(report, rank, tables, std::to_string(rank % 64));
  SiteReport& own = report.sites.emplace_back();
  own.where = "loop";
  own.kind = "explicit";
  own.team_size = 2;
  for (std::uint32_t thread = 0; thread < 2; ++thread) own.threads[thread].imbalance.add(1);
  return report;
}

Report merged(std::uint32_t num_ranks) {
  Report all = report_of(0, num_ranks);
  Merger merger(all);
  for (std::uint32_t rank = 1; rank < num_ranks; ++rank)
    merger.add(parse_report(to_json_of_rank(report_of(rank, num_ranks))));
  return all;
}

// Of the last rank, from its tables to the text that it sends.
std::uint64_t bytes_of_last(std::uint32_t num_ranks) {
  Report report = report_of(num_ranks - 1, num_ranks);
  const std::uint64_t before = num_bytes;
  const std::string text = to_json_of_rank(report);
  return num_bytes - before;
}

// Of rank 0, without what the others did.
std::uint64_t bytes_of_root(std::uint32_t num_ranks) {
  std::uint64_t sum = 0;
  Report all = report_of(0, num_ranks);
  Merger merger(all);
  for (std::uint32_t rank = 1; rank < num_ranks; ++rank) {
    const std::string text = to_json_of_rank(report_of(rank, num_ranks));
    const std::uint64_t before = num_bytes;
    merger.add(parse_report(text));
    sum += num_bytes - before;
  }
  return sum;
}

TEST(Merge, ARanksOwnReportDoesNotGrowWithTheJob) {
  const std::uint64_t of_few = bytes_of_last(256), of_many = bytes_of_last(16'384);
  EXPECT_GT(of_few, 0U);
  EXPECT_LT(of_many, of_few + of_few / 2);
  EXPECT_EQ(report_of(16'383, 16'384).sites.front().threads.size(), 1U);
}

TEST(Merge, FourTimesTheRanksTakeFourTimesAsMuch) {
  const std::uint64_t of_few = bytes_of_root(256), of_many = bytes_of_root(1024);
  EXPECT_GT(of_many, 3 * of_few);
  EXPECT_LT(of_many, 5 * of_few);
}

TEST(Merge, KeepsWhatEachRankKnows) {
  constexpr std::uint32_t kRanks = 100;
  Report all = merged(kRanks);
  sort_sites(all);
  ASSERT_EQ(all.sites.size(), 2U);
  const SiteReport& of_ranks = all.sites[0];
  EXPECT_EQ(of_ranks.threads.size(), kRanks);
  EXPECT_EQ(of_ranks.threads.at(71).imbalance.sum_ns(), 171U);
  EXPECT_EQ(of_ranks.threads.at(71).cpus, "7");
  EXPECT_EQ(of_ranks.imbalance.count(), kRanks);
  ASSERT_FALSE(of_ranks.levels.groups.empty());
  EXPECT_EQ(of_ranks.levels.groups[0].groups.size(), 1U);
  EXPECT_TRUE(of_ranks.rows.empty());
  EXPECT_EQ(all.sites[1].rows.size(), kRanks);
  EXPECT_EQ(all.sites[1].rows[70].name, "rank 70");
  EXPECT_THAT(all.sites[1].rows[70].last_arrivals, ElementsAre(0, 0));
  EXPECT_EQ(all.num_processes, kRanks);
}

}  // namespace
}  // namespace hierbar::report
