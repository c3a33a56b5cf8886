// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hierbar::bench::model {

// The cost of simulation for the machine that simulates. Both times are equal if nothing else runs
// there.
struct SimulationCost {
  std::uint64_t num_barriers = 0;
  double wall_ms = 0;
  double cpu_ms = 0;
};
inline SimulationCost operator-(const SimulationCost& a, const SimulationCost& b) {
  return {a.num_barriers - b.num_barriers, a.wall_ms - b.wall_ms, a.cpu_ms - b.cpu_ms};
}

// The cost in this process so far.
SimulationCost simulation_cost();

// Adds to simulation_cost() the time from its construction to its destruction, and a number of
// barriers.
class SimulationCostMeter {
 public:
  explicit SimulationCostMeter(std::uint32_t num_barriers);
  ~SimulationCostMeter();
  SimulationCostMeter(const SimulationCostMeter&) = delete;
  SimulationCostMeter& operator=(const SimulationCostMeter&) = delete;

 private:
  const std::uint32_t num_barriers_;
  const double wall_begin_ms_;
  const double cpu_begin_ms_;
};

// "simulated 2860 barriers in 0.35 s: 0.12 ms each, 0.11 ms of processor time"
std::string text_of(const SimulationCost& cost);
nlohmann::ordered_json to_json(const SimulationCost& cost);

}  // namespace hierbar::bench::model
