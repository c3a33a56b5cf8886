// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "barrier/algorithm.hpp"
#include "base/result.hpp"
#include "bench/model/machine/machine.hpp"
#include "bench/model/machine/simulator.hpp"
#include "plan/groups.hpp"
#include "plan/locality.hpp"
#include "plan/shape.hpp"

namespace hierbar::bench::model {

enum class Metric : std::uint8_t {
  kPeriod,    // barriers back to back: ns from one barrier to the next
  kIsolated,  // one barrier that all enter together: ns from the last entry to the last exit
};

struct Episodes {
  std::uint32_t warm_up = 3;
  std::uint32_t measured = 10;
};

// By line of a barrier's memory: the domain of its home. A slot's lines are in the memory of the
// domain of the participant that owns the slot.
std::vector<std::uint32_t> domains_of_slots(const Places& places, const hierbar_plan& plan,
                                            std::size_t num_lines);

// One barrier with simulated participants: an algorithm's production code over ModelMem. Every run
// checks that no participant hangs, and that none leaves an episode before all have entered it.
class Trial {
 public:
  // `places` must live longer than the trial.
  Trial(const Places& places, Algorithm algorithm, EnginePlan plan);

  // ns for one barrier: the mean over the measured episodes. The error says how the barrier failed.
  Result<double> run(Simulator& simulator, const Parameters& parameters, Metric metric,
                     std::uint64_t seed, const Episodes& episodes = {});

 private:
  struct alignas(128) StorageLine {
    std::byte bytes[128];
  };

  template <class Barrier>
  Result<double> run_barrier(Simulator& simulator, const Parameters& parameters, Metric metric,
                             std::uint64_t seed, const Episodes& episodes);

  const Places& places_;
  Algorithm algorithm_;
  EnginePlan plan_;
  std::vector<StorageLine> memory_;
  std::vector<std::uint32_t> domain_of_line_;
};

// Participants on a machine. Trials with the same participants share it.
class Scenario {
 public:
  // Errors: more participants than cpus; those of map_participants() and Places::make().
  static Result<Scenario> make(const Machine& machine, Mapping mapping,
                               std::uint32_t num_participants);
  // One participant for each binding. Errors: those of Places::make().
  static Result<Scenario> make(const Machine& machine, const std::vector<CpuSet>& bindings);

  // The plan that the engine would make, with this kind of release.
  EnginePlan engine_plan(hierbar_release_kind release = HIERBAR_RELEASE_FLAGS) const;
  // The plan of the paper's groups on these levels, lowest first.
  Result<EnginePlan> group_plan(const std::vector<Level>& levels) const;

  Trial trial(Algorithm algorithm, EnginePlan plan) const {
    return Trial(*places_, algorithm, std::move(plan));
  }

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
