// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "barrier/algorithm.hpp"
#include "base/result.hpp"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench {

// The plans of the measured teams, for the cpus on which Team runs them: the engine's, and for
// `topo` that of the paper's groups. HIERBAR_LEVELS, HIERBAR_RELEASE and HIERBAR_TOPOLOGY are
// obeyed.
class TeamPlans {
 public:
  static Result<TeamPlans> load();

  EnginePlan make(Algorithm algorithm, int num_participants);

  // The levels of the paper's groups, "numa, package". "none" if all participants are in one group.
  std::string levels() const;
  // What was not done as it was asked for, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  TeamPlans() = default;

  Machine machine_;
  PlanSettings settings_;
  PlanLevels levels_;
  std::vector<std::string> notes_;
};

}  // namespace hierbar::bench
