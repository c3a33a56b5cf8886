// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/profile.hpp"
#include "topology/machine.hpp"
#include "tune/cpu_pairs.hpp"
#include "tune/meter.hpp"
#include "tune/quartiles.hpp"

namespace hierbar {

// Measures a machine and finds the shapes that its teams should have:
//
//   1. One-way times of sampled pairs, class by class, each class's first pair before any second one, so that time which is up
//      costs pairs and not classes.
//   2. For each team size the automatic plan and its rivals: everybody in the exchange, fewer leaders, the other kind of release.
//      They take turns; a rival is as good as the median of its ratios to the automatic plan in the same turn.
//   3. The best rival has been picked out of many because of its luck, too. So it takes turns with the automatic plan once more,
//      and these turns alone decide. A second run of the automatic plan in each turn tells what is noise.

struct PairTime {
  CpuPair cpus;
  OneWay one_way;
};
struct LatencyClass {
  std::string name;
  std::vector<PairTime> pairs;  // those for which there was time
};

// A plan in the race. The first of a team is the automatic one.
struct RivalShape {
  std::uint32_t num_leaders = 0;  // as ShapeOptions
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  std::uint32_t actual_leaders = 0;
  std::uint32_t depth = 0;
  Quartiles period_ns;
  Quartiles ratio;  // to the automatic plan's period in the same turn
};

enum class Verdict : std::uint8_t {
  kNoChoice,  // the plan of so few is always the same
  kNoTime,    // the time was up before anything could be said
  kDefault,   // no rival is better by more than the noise
  kBetter,
};

struct TunedTeam {
  TeamSpread team;
  std::vector<RivalShape> rivals;
  Verdict verdict = Verdict::kNoChoice;
  std::size_t best = 0;       // of rivals: the one that went into the last step; 0: none
  std::size_t num_turns = 0;  // of the last step
  Quartiles best_ratio;       // there: its period to the automatic plan's
  Quartiles noise_ratio;      // there: the automatic plan's second run to its first

  TunedPlan plan() const;
};

struct TuneReport {
  MachineIdentity machine;
  double pause_ns = 0;  // of one cpu_pause()
  std::vector<LatencyClass> latencies;
  std::vector<TunedTeam> teams;
};

struct TuneRequest {
  std::vector<std::uint32_t> team_sizes = {};  // empty: usual_team_sizes()
  double time_limit_s = 60;
};

// What step 2 asks about where nobody says otherwise: one participant for each core, and one for each cpu where cores have more.
std::vector<std::uint32_t> usual_team_sizes(const Machine& machine);

// Step 2's plans for participants at these places, without two that are equal.
std::vector<RivalShape> rival_shapes(const std::vector<LocalityPath>& paths, const Machine& machine,
                                     std::vector<EnginePlan>& plans);

struct TuneHooks {
  std::function<double()> seconds;                                    // since the start
  std::function<bool()> is_stopped;                                   // asked between measurements of some ms
  std::function<void(double fraction, const std::string&)> progress;  // what is measured next
};

// Errors: stopped; a team size that the machine cannot have. Throws what the meter throws.
Result<TuneReport> tune(const Machine& machine, const TuneRequest& request, Meter& meter, const TuneHooks& hooks);

}  // namespace hierbar
