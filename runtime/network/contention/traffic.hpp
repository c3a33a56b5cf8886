// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hierbar::network {

// What a program sends, as a generator of steps. A step's messages are under way at the same time;
// a step begins when all of its rank's messages of the step before have been received.
//
// The blocked all-to-all is that of paper P3 (E. Peryshkova, M. Kurnosov, 2019). The paper's
// pseudocode adds the block's length to its loop variable twice; here blocks follow each other.
struct Traffic {
  enum class What : std::uint8_t { kAllToAll, kOneToAll, kAllToOne, kHalo, kMatrix };
  enum class Algorithm : std::uint8_t {
    kBlocked,   // every rank exchanges with `block` others at a time
    kPairwise,  // blocks of one
    kBruck,     // log2 n steps; a message carries all blocks that go the same way
  };
  What what = What::kAllToAll;
  std::uint64_t num_bytes = 0;  // from one rank to another, or to a neighbour; not for kMatrix
  Algorithm algorithm = Algorithm::kBlocked;
  std::uint32_t block = 32;  // of kBlocked
  // kMatrix: bytes and messages from rank i to rank j at [i * num_ranks + j].
  std::uint32_t num_ranks = 0;
  std::vector<double> bytes, messages;
};

inline constexpr std::uint32_t kMostTrafficRanks = 1024;
inline constexpr std::uint64_t kMostTrafficBytes = std::uint64_t{1} << 40;
inline constexpr const char* kAllowedTraffic =
    "alltoall:SIZE, one-to-all:SIZE, all-to-one:SIZE, halo:SIZE, where SIZE is bytes, or a number "
    "with K, M or G, up to 1024G";
inline constexpr const char* kAllowedAlgorithms = "blocked, blocked:1-65536, pairwise, bruck";

// All messages from one rank to another in one step.
struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double num_bytes = 0;
  double num_messages = 1;
};
using FlowStep = std::vector<Flow>;

// Reads "alltoall:1M". Errors: an unknown name, or a size that is none.
Result<Traffic> parse_traffic(const std::string& text);
// Reads "blocked:16" into the traffic. Errors: an unknown name, or the traffic is no all-to-all.
Result<Traffic> with_algorithm(Traffic traffic, const std::string& text);
// "alltoall:1M, blocked:32"
std::string describe(const Traffic& traffic);

// Reads "64K": bytes; 0 if it is no size from 1 to kMostTrafficBytes. "1M" is 2^20.
std::uint64_t parse_size(const std::string& text);
// The shortest text that parse_size() reads as this number.
std::string size_text(std::uint64_t num_bytes);

// Calls `visit` with each step among `num_ranks` ranks. Nobody sends to itself: that is no message.
// One-to-all and all-to-one are one step, and so is a halo on a grid that is as square as possible.
// A matrix is one step, since its order is not known. Requires num_ranks <= kMostTrafficRanks, and
// for a matrix its own number.
void for_each_step(const Traffic& traffic, std::uint32_t num_ranks,
                   const std::function<void(const FlowStep&)>& visit);

// The sides of the grid of a halo: the most square one, for instance 3 x 4.
struct Grid {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
};
Grid grid_of(std::uint32_t num_ranks);

inline constexpr std::size_t kMaxMatrixBytes = 64U << 20;

// Reads who sends how much to whom, as CSV: a line for each sender, in it the bytes to each
// receiver. Lines that begin with # are comments. A second matrix of the same size may follow the
// first, after a line "# messages": the numbers of messages. Without it each is one message.
//
// The library that HIERBAR_COUNT switches on writes such files.
//
// Errors: no square matrix; more than kMostTrafficRanks lines; something that is no number, or a
// negative one; a second matrix of another size.
Result<Traffic> parse_matrix(const std::string& text);

}  // namespace hierbar::network
