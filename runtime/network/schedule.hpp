// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hierbar::network {

// The barriers by messages that are known here. P1 is Kurnosov 2022, P2 is Zharikov and Paznikov
// 2019; the README names both papers.
enum class Algorithm : std::uint8_t {
  kLinear,             // everybody reports to rank 0, which answers all: P2's central counter
  kDoubleRing,         // two laps of a token
  kRecursiveDoubling,  // pairs exchange at distances 1, 2, 4, ...; ranks above a power of two stand
                       // beside
  kDissemination,      // k sends in a round; k = 1 is Bruck's algorithm and P2's dissemination
  kTree,               // gather and release along one tree: k = 1 binomial, k >= 2 with k children
  kCombiningTree,      // P2's: groups of k report to their lowest rank; a binomial tree releases
};

// An algorithm and its k, which is 1 where the algorithm has none.
struct Kind {
  Algorithm algorithm = Algorithm::kLinear;
  std::uint32_t k = 1;
  friend bool operator==(const Kind&, const Kind&) = default;
};

inline constexpr std::uint32_t kMostK = 255;
inline constexpr std::uint32_t kMostRanks = 1U << 20;
inline constexpr const char* kAllowedKinds =
    "linear, double-ring, recursive-doubling, bruck, dissemination[:1-255], tree[:1-255], "
    "combining-tree[:2-255]";

// Reads "linear", "dissemination:3". Without a number, k is 1, and 2 in a combining tree. "bruck"
// is dissemination:1, and "central" is linear. Errors: the name or the number is not allowed.
Result<Kind> parse_kind(const std::string& text);
// Reads a comma list of them; each of them once.
Result<std::vector<Kind>> parse_kinds(const std::string& text);
// "dissemination:3"; parse_kind() reads it.
std::string name_of(Kind kind);

// What one rank does in one round. It starts a send to each of `send_to`, in this order. Then it
// waits for one message from each of `receive_from`, whichever comes first. The round ends when all
// of its sends and receives have completed.
struct Round {
  std::vector<std::uint32_t> send_to;
  std::vector<std::uint32_t> receive_from;
};

// The schedule of `rank` among `size` ranks: a barrier. All messages from one rank to another are
// taken in the order in which they were sent, so one tag serves all rounds and all barriers.
//
// Guarantees, which schedule_test shows for all sizes up to 130 and k up to 8: every rank
// ends only after all have begun; each send has its receive, so that nothing is left over for the
// next barrier; nobody sends to itself; no rank is outside 0 to size - 1.
//
// Requires rank < size <= kMostRanks and a k that parse_kind() allows. Cost: O(messages of the
// rank).
std::vector<Round> rounds(Kind kind, std::uint32_t rank, std::uint32_t size);

// The number of messages of all ranks.
std::uint64_t num_messages(Kind kind, std::uint32_t size);

}  // namespace hierbar::network
