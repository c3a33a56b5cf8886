// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "network/contention/channel_use.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

enum class Model : std::uint8_t {
  // P3's: a step lasts as long as its slowest channel, t(m, cf), and steps follow each other. t is
  // half of an exchange, which is why P3's own times are about half of what it measures.
  kPaper,
  // A step lasts o_s + L + o_r for its first message, the overheads of the rank that has most of
  // them for the others, and for its slowest channel the bytes over what cf pairs get through it:
  // bandwidth(m, cf) = cf m / (2 t(m, cf) - start-up).
  kShared,
};
inline constexpr const char* kAllowedModels = "paper, shared";

// The statistics of one kind of channel over all steps, and all channels of the kind.
struct ChannelStatistics {
  std::uint32_t largest_cf = 0;
  double mean_cf = 0;             // over the steps that use it, of the largest in the step
  std::uint32_t num_steps = 0;    // that use it
  std::uint32_t num_binding = 0;  // in which it takes the longest
  double binding_us = 0;          // the time of those steps
};

struct Prediction {
  // With all cells at their lower quartile, median, upper quartile.
  Quartiles time_us;
  ChannelKind binding = ChannelKind::kNetwork;  // the kind that takes most of the time
  std::uint32_t num_steps = 0;
  std::map<ChannelKind, ChannelStatistics> channels;
};

// What is known of the machine's channels. `parameters`: of the network's messages; for channels
// inside a node the start-up is taken from the smallest message of their table.
struct Costs {
  const Contention& contention;
  Parameters parameters;
};

// The time of the traffic among ranks at these spots; 0 for one rank.
// Errors: a channel is used of which nothing was measured.
// Cost: O(flows log channels).
Result<Prediction> predict(const Traffic& traffic, const std::vector<Spot>& spots, const Costs& costs, Model model);

}  // namespace hierbar::network
