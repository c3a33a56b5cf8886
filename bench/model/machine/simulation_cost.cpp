// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/simulation_cost.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace hierbar::bench::model {
namespace {

Effort total;

double now_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double each(double ms, const Effort& effort) {
  return effort.num_barriers == 0 ? 0 : ms / static_cast<double>(effort.num_barriers);
}

}  // namespace

Effort effort() { return total; }

EffortMeter::EffortMeter(std::uint32_t num_barriers)
    : num_barriers_(num_barriers), wall_begin_ms_(now_ms(CLOCK_MONOTONIC)), cpu_begin_ms_(now_ms(CLOCK_PROCESS_CPUTIME_ID)) {}

EffortMeter::~EffortMeter() {
  total.num_barriers += num_barriers_;
  total.wall_ms += now_ms(CLOCK_MONOTONIC) - wall_begin_ms_;
  total.cpu_ms += now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ms_;
}

std::string text_of(const Effort& effort) {
  return fmt::format("simulated {} barriers in {:.2f} s: {:.2f} ms each, {:.2f} ms of processor time", effort.num_barriers,
                     effort.wall_ms / 1000, each(effort.wall_ms, effort), each(effort.cpu_ms, effort));
}

nlohmann::ordered_json to_json(const Effort& effort) {
  return {{"barriers", effort.num_barriers},
          {"wall_ms_each", each(effort.wall_ms, effort)},
          {"cpu_ms_each", each(effort.cpu_ms, effort)}};
}

}  // namespace hierbar::bench::model
