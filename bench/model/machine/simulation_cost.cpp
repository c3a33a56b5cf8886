// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/simulation_cost.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace hierbar::bench::model {
namespace {

SimulationCost total;

double now_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double each(double ms, const SimulationCost& cost) {
  return cost.num_barriers == 0 ? 0 : ms / static_cast<double>(cost.num_barriers);
}

}  // namespace

SimulationCost simulation_cost() { return total; }

SimulationCostMeter::SimulationCostMeter(std::uint32_t num_barriers)
    : num_barriers_(num_barriers),
      wall_begin_ms_(now_ms(CLOCK_MONOTONIC)),
      cpu_begin_ms_(now_ms(CLOCK_PROCESS_CPUTIME_ID)) {}

SimulationCostMeter::~SimulationCostMeter() {
  total.num_barriers += num_barriers_;
  total.wall_ms += now_ms(CLOCK_MONOTONIC) - wall_begin_ms_;
  total.cpu_ms += now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ms_;
}

std::string text_of(const SimulationCost& cost) {
  return fmt::format(
      "simulated {} barriers in {:.2f} s: {:.2f} ms each, {:.2f} ms of processor time",
      cost.num_barriers, cost.wall_ms / 1000, each(cost.wall_ms, cost), each(cost.cpu_ms, cost));
}

nlohmann::ordered_json to_json(const SimulationCost& cost) {
  return {{"barriers", cost.num_barriers},
          {"wall_ms_each", each(cost.wall_ms, cost)},
          {"cpu_ms_each", each(cost.cpu_ms, cost)}};
}

}  // namespace hierbar::bench::model
