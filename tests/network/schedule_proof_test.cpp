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

using ::testing::HasSubstr;

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
          if (peer >= schedules.size()) return "rank " + std::to_string(rank) + " names a rank outside: " + std::to_string(peer);
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
    if (round[rank] != schedules[rank].size()) return "rank " + std::to_string(rank) + " waits for ever";
    if (known[rank].count() != size) return "rank " + std::to_string(rank) + " may end before others have begun";
  }
  for (const auto& [pair, messages] : sent) {
    if (!messages.empty()) return "a message from " + std::to_string(pair.first) + " is left over";
  }
  return "";
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{{Algorithm::kLinear, 1}, {Algorithm::kDoubleRing, 1}, {Algorithm::kRecursiveDoubling, 1}};
  for (std::uint32_t k = 1; k <= 8; ++k) {
    kinds.push_back({Algorithm::kDissemination, k});
    kinds.push_back({Algorithm::kTree, k});
    if (k >= 2) kinds.push_back({Algorithm::kCombiningTree, k});
  }
  for (const std::uint32_t k : {16U, 63U, 129U, kMostK}) kinds.push_back({Algorithm::kDissemination, k});
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
std::vector<std::uint32_t>& first_peers(Schedules& schedules, std::vector<std::uint32_t> Round::* peers) {
  for (Round& round : schedules[5]) {
    if (!(round.*peers).empty()) return round.*peers;
  }
  throw std::logic_error("rank 5 has no such peers");
}

INSTANTIATE_TEST_SUITE_P(
    Damage, BrokenSchedules,
    ::testing::Values(
        Broken{"ARankSendsToItself", [](Schedules& all) { first_peers(all, &Round::send_to)[0] = 5; }, "sends to itself"},
        Broken{"ReceivesFromAnybody", [](Schedules& all) { first_peers(all, &Round::receive_from)[0] = ~0U; },
               "names a rank outside"},
        Broken{"ReceivesFromItself", [](Schedules& all) { first_peers(all, &Round::receive_from)[0] = 5; }, "sends to itself"}),
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
  for (std::uint32_t rank = 1; rank < 10; ++rank) one_lap[rank] = {{{}, {rank - 1}}, {{(rank + 1) % 10}, {}}};
  EXPECT_THAT(problem_of(one_lap), HasSubstr("may end before others have begun"));
}

}  // namespace
}  // namespace hierbar::network
