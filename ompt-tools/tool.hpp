// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ompt-tools/ompt_api.h"
#include "ompt-tools/raw_trace.hpp"
#include "ompt-tools/settings.hpp"
#include "ompt-tools/team_pool.hpp"
#include "trace/clock_offset.hpp"
#include "trace/stamps.h"
#include "trace/trace_clock.hpp"

namespace hierbar::ompt {

// What the callbacks write and the report reads.
struct Tool {
  explicit Tool(const Settings& chosen) : settings(chosen), clock(TraceClock::measure()), teams(chosen.every, clock) {}

  const Settings settings;
  const Process process = this_process();
  const TraceClock clock;
  const ClockOffset offset = measure_clock_offset(clock, first_cpus_of_packages());
  TeamPool teams;
  RawTrace raw{settings.trace_events, clock};  // used for pictures only
  std::string runtime;
  const hierbar_trace_interface* trace = nullptr;  // our libomp's; null with any other runtime
  std::atomic<std::uint64_t> idle_ticks{0};
  std::atomic<std::uint32_t> largest_team{0};
  std::atomic<bool> taken{false};      // the MPI shim has what came before
  std::atomic<bool> shim_asks{false};  // and it keeps the partial files
  std::atomic<bool> has_partial{false};
  std::atomic<std::uint64_t> next_partial{~std::uint64_t{0}};  // when the partial file is due, in ticks
  std::atomic<bool> ended{false};
};
// Null when no report is asked for. Never freed: a thread may still be in a callback when the program exits.
extern Tool* tool;

// At the end of an outer region, now: writes the partial file if that is due, and returns whether it was.
bool checkpoint(std::uint64_t now);

// Asks the runtime for the events; false when it cannot tell what is needed.
bool listen_to_events(ompt_set_callback_t set_callback);
// And our libomp for the phases of its barriers.
void listen_to_phases(const hierbar_trace_interface& trace);

}  // namespace hierbar::ompt
