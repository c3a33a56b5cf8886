// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {

// A possible shape of a plan. Participants in topology order are gathered in groups of `groups[0]`,
// their leaders in groups of `groups[1]`, and so on. The leaders that are left exchange.
struct Shape {
  std::vector<std::uint32_t> groups;
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
};
// "4x8, 4 leaders, flags"
std::string shape_name(const Shape& shape, std::uint32_t num_participants);

// All shapes with groups of powers of two, at most three levels, at most 32 leaders, and both kinds
// of release.
std::vector<Shape> possible_shapes(std::uint32_t num_participants);

// The plan of a shape. The place of each participant's lines is taken from `engine`.
EnginePlan shaped_plan(const Scenario& scenario, const Shape& shape, const EnginePlan& engine);

// A candidate: a shape, or the automatic plan.
struct Candidate {
  std::string name;
  Costs costs;
  // Its cost divided by that of the best candidate, in the parameter set and metric in which this
  // is largest.
  double regret = 0;
};

// Returns the automatic plan with both kinds of release first, then all shapes by regret.
Result<std::vector<Candidate>> search_shapes(const ModelMachine& machine, Mapping mapping,
                                             std::uint32_t num_participants, std::uint64_t seed);

}  // namespace hierbar::bench::model
