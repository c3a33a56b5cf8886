// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/trial.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/machine/simulator.hpp"
#include "plan/groups.hpp"

namespace hierbar::bench::model {
namespace {

// The entries and exits of all episodes of a run.
class Record {
 public:
  Record(std::uint32_t num_participants, std::uint32_t num_episodes)
      : num_participants_(num_participants),
        num_entered_(num_episodes, 0),
        last_entry_(num_episodes, 0),
        last_exit_(num_episodes, 0) {}

  void enter(std::uint32_t episode, Time now) {
    ++num_entered_[episode];
    last_entry_[episode] = std::max(last_entry_[episode], now);
  }
  // False if not all participants have entered the episode.
  bool leave(std::uint32_t episode, Time now) {
    last_exit_[episode] = std::max(last_exit_[episode], now);
    return num_entered_[episode] == num_participants_;
  }

  double mean(Metric metric, std::uint32_t warm_up) const {
    const auto num_measured = static_cast<double>(last_exit_.size() - warm_up);
    if (metric == Metric::kPeriod)
      return (last_exit_.back() - last_exit_[warm_up - 1]) / num_measured;
    double sum = 0;
    for (std::size_t i = warm_up; i < last_exit_.size(); ++i) sum += last_exit_[i] - last_entry_[i];
    return sum / num_measured;
  }

 private:
  std::uint32_t num_participants_;
  std::vector<std::uint32_t> num_entered_;
  std::vector<Time> last_entry_;
  std::vector<Time> last_exit_;
};

}  // namespace

std::vector<std::uint32_t> domains_of_slots(const Places& places, const hierbar_plan& plan,
                                            std::size_t num_lines) {
  const std::size_t lines_per_slot = num_lines / plan.num_slots;
  std::vector<std::uint32_t> result(num_lines, 0);
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(plan.nodes[p].slot * lines_per_slot),
                lines_per_slot, places[p].domain);
  }
  return result;
}

Trial::Trial(const Places& places, Algorithm algorithm, EnginePlan plan)
    : places_(places), algorithm_(algorithm), plan_(std::move(plan)) {
  const std::size_t size_bytes = barrier_size_bytes<ModelMem>(algorithm_, plan_.view());
  memory_.resize((size_bytes + sizeof(StorageLine) - 1) / sizeof(StorageLine));
  domain_of_line_ = domains_of_slots(places, plan_.view(), size_bytes / plan_.line_bytes);
}

template <class Barrier>
Result<double> Trial::run_barrier(Simulator& simulator, const Parameters& parameters, Metric metric,
                                  std::uint64_t seed, const Episodes& episodes) {
  std::fill(memory_.begin(), memory_.end(), StorageLine{});
  const hierbar_plan plan = plan_.view();
  const Barrier barrier(plan, memory_.data());
  const std::uint32_t num_episodes = episodes.warm_up + episodes.measured;
  Record record(plan.num_participants, num_episodes);
  const std::string failure = simulator.run(
      parameters, Storage{memory_.front().bytes, plan.line_bytes, domain_of_line_}, seed,
      [&](std::uint32_t me) {
        ModelMem mem(simulator, me);
        for (std::uint32_t episode = 0; episode < num_episodes; ++episode) {
          if (metric == Metric::kIsolated) {
            simulator.meet(me);
          } else {
            simulator.spend(me, parameters.episode);
          }
          record.enter(episode, simulator.settle(me));
          if (cross(barrier, mem, me) == WaitResult::kAborted) return;
          if (!record.leave(episode, simulator.settle(me)) && !simulator.is_stopped()) {
            simulator.fail("participant " + std::to_string(me) + " left episode " +
                           std::to_string(episode) + " before all had entered it");
          }
          if (simulator.is_stopped()) return;
        }
      });
  if (!failure.empty()) return Error{std::string(algorithm_name(algorithm_)) + ": " + failure};
  return record.mean(metric, episodes.warm_up);
}

Result<double> Trial::run(Simulator& simulator, const Parameters& parameters, Metric metric,
                          std::uint64_t seed, const Episodes& episodes) {
  const SimulationCostMeter meter(episodes.warm_up + episodes.measured);
  return visit_algorithm<ModelMem>(algorithm_, [&](auto type) {
    return run_barrier<typename decltype(type)::type>(simulator, parameters, metric, seed,
                                                      episodes);
  });
}

Result<Scenario> Scenario::make(const Machine& machine, Mapping mapping,
                                std::uint32_t num_participants) {
  if (num_participants > machine.allowed.count()) {
    return Error{std::to_string(num_participants) + " participants: the machine has " +
                 std::to_string(machine.allowed.count()) +
                 " cpus, and sharing a cpu is not modelled"};
  }
  const Result<std::vector<CpuSet>> bindings = map_participants(machine, mapping, num_participants);
  if (!bindings) return Error{bindings.error()};
  return make(machine, *bindings);
}

Result<Scenario> Scenario::make(const Machine& machine, const std::vector<CpuSet>& bindings) {
  Result<Places> places = Places::make(machine, bindings);
  if (!places) return Error{places.error()};
  Scenario scenario;
  scenario.machine_ = machine;
  scenario.paths_ = locate_all(machine, bindings);
  scenario.places_ = std::make_unique<Places>(*std::move(places));
  scenario.simulator_ = std::make_unique<Simulator>(*scenario.places_);
  return scenario;
}

EnginePlan Scenario::engine_plan(hierbar_release_kind release) const {
  return *build_engine_plan(paths_, machine_, ShapeOptions{.release = release});
}

Result<EnginePlan> Scenario::group_plan(const std::vector<Level>& levels) const {
  return build_group_plan(build_group_tree(paths_, machine_, levels), engine_plan());
}

}  // namespace hierbar::bench::model
