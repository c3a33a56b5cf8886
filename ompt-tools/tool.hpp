// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ompt-tools/team_pool.hpp"
#include "report/settings.hpp"
#include "report/timeline.hpp"
#include "trace/ompt_api.h"
#include "trace/stamps.h"
#include "trace/trace_clock.hpp"

namespace hierbar::report {

// The state that the callbacks write and the report reads. All of its atomics are relaxed: they are
// counters and flags, and publish nothing else.
struct Tool {
  explicit Tool(const ReportSettings& chosen)
      : settings(chosen), clock(TraceClock::measure()), teams(chosen.every, clock) {}

  const ReportSettings settings;
  const Process process = this_process();
  const TraceClock clock;
  const ClockOffset offset = measure_clock_offset(clock, first_cpus_of_packages());
  TeamPool teams;
  RawTrace raw{settings.trace_events, clock};  // only used for pictures
  std::string runtime;
  // Null if the runtime is not our libomp.
  const hierbar_trace_interface* trace = nullptr;
  std::atomic<std::uint64_t> idle_ticks{0};
  std::atomic<std::uint32_t> largest_team{0};
  // The MPI shim has taken the figures that were there before.
  std::atomic<bool> taken{false};
  // The MPI shim asks for reports. Then it writes the partial files, and this tool does not.
  std::atomic<bool> shim_asks{false};
  std::atomic<bool> has_partial{false};
  // When the next partial file is due, in ticks.
  std::atomic<std::uint64_t> next_partial{~std::uint64_t{0}};
  std::atomic<bool> ended{false};
};
// Null if no report is asked for. Never freed, because a thread may still be in a callback when the
// program exits.
extern Tool* tool;

// Called at the end of an outer region, at time `now` in ticks. Writes the partial file if that is
// due. Returns whether it was due.
bool checkpoint(std::uint64_t now);

// Registers the callbacks. False if the runtime does not offer all events that are needed.
bool listen_to_events(ompt_set_callback_t set_callback);
// Enables the stamps of our libomp.
void listen_to_phases(const hierbar_trace_interface& trace);

}  // namespace hierbar::report
