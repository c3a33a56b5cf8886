// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/compare.hpp"

namespace hierbar::bench::model {

// A shape that a plan could have: participants in topology order are gathered in groups of `groups[0]`, their leaders in groups
// of `groups[1]` and so on; the leaders that are left exchange.
struct Shape {
  std::vector<std::uint32_t> groups;
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
};
std::string shape_name(const Shape& shape, std::uint32_t num_participants);  // "4x8, 4 leaders, flags"

// Groups of powers of two, up to three levels, and 1 to 32 leaders; both kinds of release.
std::vector<Shape> possible_shapes(std::uint32_t num_participants);

// The plan of a shape. Where the lines lie is taken from `engine`.
EnginePlan shaped_plan(const Scenario& scenario, const Shape& shape, const EnginePlan& engine);

// One candidate: a shape, or the plan that is made automatically.
struct Candidate {
  std::string name;
  Costs costs;
  double regret = 0;  // how much slower than the best candidate, in the parameter set and by the metric where that is most
};

// First the automatic plan with both kinds of release, then all shapes by regret.
Result<std::vector<Candidate>> search_shapes(const ModelMachine& machine, Mapping mapping, std::uint32_t num_participants,
                                             std::uint64_t seed);

}  // namespace hierbar::bench::model
