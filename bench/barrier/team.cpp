// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/barrier/team.hpp"

#include <cstdint>
#include <cstdlib>

#include "plan/groups.hpp"
#include "topology/load.hpp"

namespace hierbar::bench {

Result<TeamPlans> TeamPlans::load() {
  Result<Machine> machine = load_machine(std::getenv(kTopologyVariable));
  if (!machine) return Error{machine.error()};
  TeamPlans plans;
  plans.machine_ = *std::move(machine);
  plans.notes_ = plans.machine_.warnings;
  plans.settings_ = read_plan_settings(own_environment(), plans.notes_);
  plans.levels_ = plan_levels(plans.machine_, plans.settings_, plans.notes_);
  return plans;
}

EnginePlan TeamPlans::make(Algorithm algorithm, int num_participants) {
  std::vector<LocalityPath> paths;
  for (int p = 0; p < num_participants; ++p) {
    CpuSet binding;
    binding.set(static_cast<std::uint32_t>(cpu_of(static_cast<std::uint32_t>(p))));
    paths.push_back(locate(machine_, binding));
  }
  EnginePlan engine =
      *build_engine_plan(paths, machine_,
                         ShapeOptions{.release = settings_.release,
                                      .domain_level = levels_.domain,
                                      .num_cpus = static_cast<std::uint32_t>(host().cpus.size())});
  if (algorithm != Algorithm::kTopo) return engine;
  Result<EnginePlan> groups =
      build_group_plan(build_group_tree(paths, machine_, levels_.groups), engine);
  if (groups) return *std::move(groups);
  notes_.push_back("topo with " + std::to_string(num_participants) +
                   " threads follows the engine's plan: " + groups.error());
  return engine;
}

std::string TeamPlans::levels() const {
  std::string text;
  for (const Level level : levels_.groups)
    text.append(text.empty() ? "" : ", ").append(level_name(level));
  return text.empty() ? "none" : text;
}

}  // namespace hierbar::bench
