// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "network/evaluate.hpp"
#include "network/schedule.hpp"

namespace hierbar::network {

// A schedule with what it is expected to cost.
struct Ranked {
  Kind kind;
  std::optional<double> formula_us;  // P2's; empty if the paper has none
  double evaluated_us = 0;
  std::uint64_t num_messages = 0;
};

// The schedules among which a choice is made for this many ranks: every algorithm, with each k that
// can be best. More sends in a round pay only if they save a round; so for dissemination, besides
// k = 1 to 8, these are the smallest k for each number of rounds. At most some 40.
std::vector<Kind> candidates(std::uint32_t size);

// Among more nodes to choose takes longer than a second or two.
inline constexpr std::uint32_t kMostChosenNodes = 16384;

// All of `kinds`, the best first: by evaluated time, and among equals the one with fewer messages,
// then the one that comes first in `kinds`.
std::vector<Ranked> choose(const std::vector<Kind>& kinds, std::uint32_t size, const Network& network);

}  // namespace hierbar::network
