// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "plan/profile.hpp"
#include "topology/machine.hpp"
#include "tune/crossing_team.hpp"
#include "tune/ping_pong.hpp"

namespace hierbar {

// Measures a machine and finds the shapes that its teams should have:
//
// 1. Measures one-way times of sampled pairs, class by class. The first pair of each class comes
//    before any second pair. So, if time is up, some pairs are missing but no class.
// 2. For each team size, measures the automatic plan and its rivals: everybody in the exchange,
//    fewer leaders, the other kind of release. They take turns. A rival is as good as the median of
//    its ratios to the automatic plan in the same turn.
// 3. The best of many rivals is also a lucky one. So it takes turns with the automatic plan once
//    more, and only these turns decide. A second run of the automatic plan in each turn shows the
//    noise. See docs/design/model.md#d0066.

struct PairTime {
  CpuPair cpus;
  OneWay one_way;
};
struct LatencyClass {
  std::string name;
  std::vector<PairTime> pairs;  // those that were measured before time was up
};

// A plan in the race. The first one of each team is the automatic plan.
struct RivalShape {
  std::uint32_t num_leaders = 0;  // as in ShapeOptions
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  std::uint32_t actual_leaders = 0;
  std::uint32_t depth = 0;
  Quartiles period_ns;
  Quartiles ratio;  // its period to the automatic plan's in the same turn
};

enum class Verdict : std::uint8_t {
  kNoChoice,  // a team of this size always has the same plan
  kNoTime,    // time was up before anything could be decided
  kDefault,   // no rival is better by more than the noise
  kBetter,
};

struct TunedTeam {
  TeamSpread team;
  std::vector<RivalShape> rivals;
  Verdict verdict = Verdict::kNoChoice;
  std::size_t best = 0;       // index in `rivals` of the one that went into step 3; 0: none
  std::size_t num_turns = 0;  // of step 3
  Quartiles best_ratio;       // in step 3: the rival's period to the automatic plan's
  Quartiles noise_ratio;      // in step 3: the automatic plan's second run to its first

  TunedPlan plan() const;
};

struct TuneReport {
  MachineIdentity machine;
  double pause_ns = 0;  // the length of one cpu_pause()
  std::vector<LatencyClass> latencies;
  std::vector<TunedTeam> teams;
};

struct TuneRequest {
  std::vector<std::uint32_t> team_sizes = {};  // empty: usual_team_sizes()
  double time_limit_s = 60;
};

// The team sizes that are measured by default: a thread for each core and, where cores have several
// cpus, a thread for each cpu.
std::vector<std::uint32_t> usual_team_sizes(const Machine& machine);

// The plans of step 2 for participants with these paths, without duplicates.
std::vector<RivalShape> rival_shapes(const std::vector<LocalityPath>& paths, const Machine& machine,
                                     std::vector<EnginePlan>& plans);

struct TuneHooks {
  std::function<double()> seconds;   // since the start
  std::function<bool()> is_stopped;  // asked between measurements, which take some ms
  // Reports what is measured next.
  std::function<void(double fraction, const std::string&)> progress;
};

// Errors: it was stopped; the machine has no allowed cpu. Throws what the meter throws.
Result<TuneReport> tune(const Machine& machine, const TuneRequest& request, Meter& meter,
                        const TuneHooks& hooks);

}  // namespace hierbar
