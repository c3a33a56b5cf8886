// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/model/machine/places.hpp"
#include "bench/model/machine/simulator.hpp"
#include "bench/model/trial/trial.hpp"
#include "plan/group_tree.hpp"
#include "plan/locality.hpp"
#include "plan/mapping.hpp"
#include "plan/shape.hpp"

namespace hierbar::bench::model {

// Participants on a machine. Trials with the same participants share it.
class Scenario {
 public:
  // Errors: more participants than cpus; those of map_participants() and Places::make().
  static Result<Scenario> make(const Machine& machine, Mapping mapping, std::uint32_t num_participants);

  // The plan that the engine would make, with this kind of release.
  EnginePlan engine_plan(hierbar_release_kind release = HIERBAR_RELEASE_FLAGS) const;
  // The plan of the paper's groups on these levels, lowest first.
  Result<EnginePlan> group_plan(const std::vector<Level>& levels) const;

  Trial trial(Algorithm algorithm, EnginePlan plan) const { return Trial(*places_, algorithm, std::move(plan)); }

  const Machine& machine() const { return machine_; }
  const std::vector<LocalityPath>& paths() const { return paths_; }
  const Places& places() const { return *places_; }
  Simulator& simulator() { return *simulator_; }

 private:
  Scenario() = default;

  Machine machine_;
  std::vector<LocalityPath> paths_;
  std::unique_ptr<Places> places_;
  std::unique_ptr<Simulator> simulator_;
};

}  // namespace hierbar::bench::model
