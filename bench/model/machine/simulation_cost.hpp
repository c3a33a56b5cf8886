// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hierbar::bench::model {

// The cost of simulation for the machine that simulates. Both times are equal if nothing else runs
// there.
struct Effort {
  std::uint64_t num_barriers = 0;
  double wall_ms = 0;
  double cpu_ms = 0;
};
inline Effort operator-(const Effort& a, const Effort& b) {
  return {a.num_barriers - b.num_barriers, a.wall_ms - b.wall_ms, a.cpu_ms - b.cpu_ms};
}

// The effort of this process so far.
Effort effort();

// Adds to effort() the time from its construction to its destruction, and a number of barriers.
class EffortMeter {
 public:
  explicit EffortMeter(std::uint32_t num_barriers);
  ~EffortMeter();
  EffortMeter(const EffortMeter&) = delete;
  EffortMeter& operator=(const EffortMeter&) = delete;

 private:
  const std::uint32_t num_barriers_;
  const double wall_begin_ms_;
  const double cpu_begin_ms_;
};

// "simulated 2860 barriers in 0.35 s: 0.12 ms each, 0.11 ms of processor time"
std::string text_of(const Effort& effort);
nlohmann::ordered_json to_json(const Effort& effort);

}  // namespace hierbar::bench::model
