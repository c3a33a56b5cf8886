// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs schedules symbolically: instead of a time, each rank has the set of ranks of whose entry its
// state depends.

#include <gmock/gmock.h>

#include <bitset>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "network/schedule.hpp"

namespace hierbar::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Schedule, NamesAreReadAndWritten) {
  for (const char* name :
       {"linear", "double-ring", "recursive-doubling", "dissemination:1", "dissemination:255",
        "tree:1", "tree:8", "combining-tree:2", "combining-tree:16"}) {
    const auto kind = parse_kind(name);
    ASSERT_TRUE(kind.ok()) << kind.error();
    EXPECT_EQ(name_of(*kind), name);
  }
  EXPECT_EQ(name_of(*parse_kind("bruck")), "dissemination:1");
  EXPECT_EQ(name_of(*parse_kind("Dissemination")), "dissemination:1");
  EXPECT_EQ(name_of(*parse_kind("tree")), "tree:1");
  EXPECT_EQ(name_of(*parse_kind("combining-tree")), "combining-tree:2");
  EXPECT_EQ(name_of(*parse_kind("central")), "linear");
}

TEST(Schedule, OtherNamesAreRefusedWithTheReason) {
  EXPECT_THAT(parse_kind("ring").error(), HasSubstr("'ring' is not a known algorithm"));
  EXPECT_THAT(parse_kind("").error(), HasSubstr("'' is not a known algorithm"));
  EXPECT_THAT(parse_kind("linear:2").error(), HasSubstr("'linear' takes no number"));
  EXPECT_THAT(parse_kind("bruck:2").error(), HasSubstr("'bruck' takes no number"));
  for (const char* name : {"tree:0", "tree:256", "tree:", "tree:x", "tree:-1", "tree:1x"}) {
    EXPECT_THAT(parse_kind(name).error(), HasSubstr("is not a number from 1 to 255")) << name;
  }
  EXPECT_THAT(parse_kind("combining-tree:1").error(), HasSubstr("from 2 to 255"));
}

TEST(Schedule, AListHasEachKindOnce) {
  const auto kinds = parse_kinds("linear, dissemination:3,bruck,dissemination,tree:2");
  ASSERT_TRUE(kinds.ok()) << kinds.error();
  EXPECT_THAT(*kinds, ElementsAre(Kind{Algorithm::kLinear, 1}, Kind{Algorithm::kDissemination, 3},
                                  Kind{Algorithm::kDissemination, 1}, Kind{Algorithm::kTree, 2}));
  EXPECT_FALSE(parse_kinds("linear,,tree").ok());
}

// The trap of a library that took -1 there, its "from anybody".
TEST(Schedule, TheLeftNeighbourOfRank0IsTheLastRank) {
  for (const Round& round : rounds({Algorithm::kDoubleRing, 1}, 0, 7)) {
    EXPECT_THAT(round.send_to, ElementsAre(1U));
    EXPECT_THAT(round.receive_from, ElementsAre(6U));
  }
}

TEST(Schedule, DisseminationSendsToKPeersInARound) {
  const std::vector<Round> all = rounds({Algorithm::kDissemination, 3}, 1, 14);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].send_to, ElementsAre(2U, 3U, 4U));
  EXPECT_THAT(all[0].receive_from, ElementsAre(0U, 13U, 12U));
  EXPECT_THAT(all[1].send_to, ElementsAre(5U, 9U, 13U));
  EXPECT_THAT(all[1].receive_from, ElementsAre(11U, 7U, 3U));
}

TEST(Schedule, RanksAboveAPowerOfTwoStandBeside) {
  const std::vector<Round> core = rounds({Algorithm::kRecursiveDoubling, 1}, 1, 6);
  ASSERT_EQ(core.size(), 4U);
  EXPECT_THAT(core.front().receive_from, ElementsAre(5U));
  EXPECT_THAT(core[1].send_to, ElementsAre(0U));
  EXPECT_THAT(core[2].send_to, ElementsAre(3U));
  EXPECT_THAT(core.back().send_to, ElementsAre(5U));
  ASSERT_EQ(rounds({Algorithm::kRecursiveDoubling, 1}, 5, 6).size(), 1U);
}

TEST(Schedule, OneRankHasNothingToDo) {
  for (const char* name :
       {"linear", "double-ring", "recursive-doubling", "bruck", "tree", "combining-tree"}) {
    EXPECT_THAT(rounds(*parse_kind(name), 0, 1), IsEmpty());
    EXPECT_EQ(num_messages(*parse_kind(name), 1), 0U);
  }
}

constexpr std::uint32_t kMostSize = 130;
using Ranks = std::bitset<kMostSize>;
using Schedules = std::vector<std::vector<Round>>;  // by rank

Schedules schedules_of(Kind kind, std::uint32_t size) {
  Schedules all;
  for (std::uint32_t rank = 0; rank < size; ++rank) all.push_back(rounds(kind, rank, size));
  return all;
}

std::string peers_problem(const Schedules& schedules) {
  for (std::uint32_t rank = 0; rank < schedules.size(); ++rank) {
    for (const Round& round : schedules[rank]) {
      for (const auto* peers : {&round.send_to, &round.receive_from}) {
        Ranks seen;
        for (const std::uint32_t peer : *peers) {
          if (peer >= schedules.size())
            return "rank " + std::to_string(rank) +
                   " names a rank outside: " + std::to_string(peer);
          if (peer == rank) return "rank " + std::to_string(rank) + " sends to itself";
          if (seen[peer]) return "rank " + std::to_string(rank) + " names a peer twice in a round";
          seen.set(peer);
        }
      }
    }
  }
  return "";
}

// What is wrong with the schedules as a barrier; empty if nothing is. Messages from one rank to
// another are taken in the order in which they were sent.
std::string problem_of(const Schedules& schedules) {
  if (std::string problem = peers_problem(schedules); !problem.empty()) return problem;
  const auto size = static_cast<std::uint32_t>(schedules.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Ranks>> sent;
  std::vector<Ranks> known(size);
  std::vector<std::size_t> round(size);
  std::vector<bool> has_sent(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) known[rank].set(rank);

  const auto step = [&](std::uint32_t rank) {
    if (round[rank] == schedules[rank].size()) return false;
    const Round& now = schedules[rank][round[rank]];
    if (!has_sent[rank]) {
      for (const std::uint32_t to : now.send_to) sent[{rank, to}].push_back(known[rank]);
    }
    const bool is_new = !has_sent[rank];
    has_sent[rank] = true;
    for (const std::uint32_t from : now.receive_from) {
      if (sent[{from, rank}].empty()) return is_new;
    }
    for (const std::uint32_t from : now.receive_from) {
      known[rank] |= sent[{from, rank}].front();
      sent[{from, rank}].pop_front();
    }
    has_sent[rank] = false;
    ++round[rank];
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t rank = 0; rank < size; ++rank) moved = step(rank) || moved;
  }
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if (round[rank] != schedules[rank].size())
      return "rank " + std::to_string(rank) + " waits for ever";
    if (known[rank].count() != size)
      return "rank " + std::to_string(rank) + " may end before others have begun";
  }
  for (const auto& [pair, messages] : sent) {
    if (!messages.empty()) return "a message from " + std::to_string(pair.first) + " is left over";
  }
  return "";
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{
      {Algorithm::kLinear, 1}, {Algorithm::kDoubleRing, 1}, {Algorithm::kRecursiveDoubling, 1}};
  for (std::uint32_t k = 1; k <= 8; ++k) {
    kinds.push_back({Algorithm::kDissemination, k});
    kinds.push_back({Algorithm::kTree, k});
    if (k >= 2) kinds.push_back({Algorithm::kCombiningTree, k});
  }
  for (const std::uint32_t k : {16U, 63U, 129U, kMostK})
    kinds.push_back({Algorithm::kDissemination, k});
  return kinds;
}

TEST(ScheduleProof, EveryExitDependsOnEveryEntryAndNothingIsLeftOver) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t size = 1; size <= kMostSize; ++size) {
      ASSERT_EQ(problem_of(schedules_of(kind, size)), "") << name_of(kind) << " of " << size;
    }
  }
}

TEST(ScheduleProof, TheNumberOfMessagesIsTheSchedules) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t size = 1; size <= kMostSize; ++size) {
      std::uint64_t count = 0;
      for (const auto& rounds_of_rank : schedules_of(kind, size)) {
        for (const Round& round : rounds_of_rank) count += round.send_to.size();
      }
      ASSERT_EQ(num_messages(kind, size), count) << name_of(kind) << " of " << size;
    }
  }
}

struct Broken {
  const char* name;
  std::function<void(Schedules&)> damage;
  const char* complaint;
};
class BrokenSchedules : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenSchedules, AreCaught) {
  for (const Kind kind : all_kinds()) {
    Schedules schedules = schedules_of(kind, 13);
    GetParam().damage(schedules);
    EXPECT_THAT(problem_of(schedules), HasSubstr(GetParam().complaint)) << name_of(kind);
  }
}

// The first round of rank 5 that has such peers.
std::vector<std::uint32_t>& first_peers(Schedules& schedules,
                                        std::vector<std::uint32_t> Round::* peers) {
  for (Round& round : schedules[5]) {
    if (!(round.*peers).empty()) return round.*peers;
  }
  throw std::logic_error("rank 5 has no such peers");
}

INSTANTIATE_TEST_SUITE_P(
    Damage, BrokenSchedules,
    ::testing::Values(
        Broken{"ARankSendsToItself",
               [](Schedules& all) { first_peers(all, &Round::send_to)[0] = 5; }, "sends to itself"},
        Broken{"ReceivesFromAnybody",
               [](Schedules& all) { first_peers(all, &Round::receive_from)[0] = ~0U; },
               "names a rank outside"},
        Broken{"ReceivesFromItself",
               [](Schedules& all) { first_peers(all, &Round::receive_from)[0] = 5; },
               "sends to itself"}),
    [](const auto& one) { return one.param.name; });

TEST(ScheduleProof, AMissingSendReceiveOrRankIsCaught) {
  for (const Kind kind : all_kinds()) {
    for (const auto peers : {&Round::send_to, &Round::receive_from}) {
      Schedules schedules = schedules_of(kind, 13);
      first_peers(schedules, peers).pop_back();
      EXPECT_NE(problem_of(schedules), "") << name_of(kind);
    }
    Schedules schedules = schedules_of(kind, 13);
    schedules[5].clear();
    EXPECT_NE(problem_of(schedules), "") << name_of(kind);
  }
}

TEST(ScheduleProof, ABarrierThatEndsTooEarlyIsCaught) {
  for (std::uint32_t k = 1; k <= 8; ++k) {
    Schedules schedules = schedules_of({Algorithm::kDissemination, k}, 100);
    for (auto& rounds_of_rank : schedules) rounds_of_rank.pop_back();
    EXPECT_THAT(problem_of(schedules), HasSubstr("may end before others have begun")) << k;
  }
  Schedules one_lap = schedules_of({Algorithm::kDoubleRing, 1}, 10);
  one_lap[0].pop_back();
  for (std::uint32_t rank = 1; rank < 10; ++rank)
    one_lap[rank] = {{{}, {rank - 1}}, {{(rank + 1) % 10}, {}}};
  EXPECT_THAT(problem_of(one_lap), HasSubstr("may end before others have begun"));
}

}  // namespace
}  // namespace hierbar::network
