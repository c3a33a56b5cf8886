// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/tune.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "plan/locality.hpp"

namespace hierbar {
namespace {

constexpr std::size_t kPairsPerClass = 8;
constexpr double kLatencyShare = 0.25;  // of the time limit, at most
constexpr double kSearchShare = 0.6;    // of a team's time, at most; the rest decides
constexpr std::size_t kFewestTurns = 5;
constexpr std::size_t kSearchTurns = 30;
constexpr std::size_t kLastTurns = 100;
// A smaller gain is not worth a plan that differs from the plans of other machines.
constexpr double kLeastGain = 0.02;

// The largest exchange that is tried. The n (n - 1) transfers of a larger one take so long that
// measuring it would show nothing new.
constexpr std::uint32_t kWidestExchange = 64;

std::vector<std::uint32_t> cpus_of(const std::vector<CpuSet>& bindings) {
  std::vector<std::uint32_t> cpus;
  for (const CpuSet& binding : bindings) cpus.push_back(*binding.begin());
  return cpus;
}

bool same_plan(const EnginePlan& a, const EnginePlan& b) {
  return a.leaders == b.leaders && a.children == b.children &&
         (a.release == b.release || a.children.empty()) &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                    [](const hierbar_plan_node& x, const hierbar_plan_node& y) {
                      return x.parent == y.parent;
                    });
}

// The time of a tuning run, and whether it is to stop.
class Clock {
 public:
  Clock(const TuneHooks& hooks, double limit_s) : hooks_(hooks), limit_s_(limit_s) {}
  double now() const { return hooks_.seconds(); }
  bool is_stopped() const { return hooks_.is_stopped(); }
  void report(const std::string& what) const {
    hooks_.progress(std::min(1.0, now() / limit_s_), what);
  }

 private:
  const TuneHooks& hooks_;
  double limit_s_;
};

// Step 1 of tune.hpp.

std::vector<LatencyClass> measure_latencies(const Machine& machine, Meter& meter,
                                            const Clock& clock, double end_s) {
  const std::vector<PairClass> classes = sample_pairs(machine, kPairsPerClass);
  std::vector<LatencyClass> measured;
  for (const PairClass& pair_class : classes) measured.push_back({pair_class.name, {}});
  for (std::size_t turn = 0; turn < kPairsPerClass; ++turn) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (clock.is_stopped() || (turn > 0 && clock.now() > end_s)) return measured;
      if (turn >= classes[i].pairs.size()) continue;
      const CpuPair cpus = classes[i].pairs[turn];
      clock.report("one way, " + classes[i].name + ": cpus " + std::to_string(cpus.first) +
                   " and " + std::to_string(cpus.second));
      measured[i].pairs.push_back({cpus, meter.one_way(cpus.first, cpus.second)});
    }
  }
  return measured;
}

// Steps 2 and 3. In a turn every plan of a list is measured once.

using Periods = std::vector<std::vector<double>>;  // [index in the list][turn]

Periods take_turns(TeamMeter& team, const std::vector<std::size_t>& plans, std::size_t most_turns,
                   const Clock& clock, double end_s) {
  Periods periods(plans.size());
  for (std::size_t turn = 0; turn < most_turns && !clock.is_stopped(); ++turn) {
    if (turn >= kFewestTurns && clock.now() > end_s) break;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::size_t place = (i + turn) % plans.size();  // no plan is always the first
      periods[place].push_back(team.period_ns(plans[place]));
    }
  }
  return periods;
}

Quartiles ratios(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> result;
  for (std::size_t turn = 0; turn < std::min(above.size(), below.size()); ++turn)
    result.push_back(above[turn] / below[turn]);
  return quartiles_of(std::move(result));
}

void search(TeamMeter& team, const Clock& clock, double end_s, TunedTeam& tuned) {
  std::vector<std::size_t> all(tuned.rivals.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const Periods periods = take_turns(team, all, kSearchTurns, clock, end_s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    tuned.rivals[i].period_ns = quartiles_of(periods[i]);
    tuned.rivals[i].ratio = ratios(periods[i], periods[0]);
    const bool leads =
        i == 1 || (i > 1 && tuned.rivals[i].ratio.median < tuned.rivals[tuned.best].ratio.median);
    if (leads) tuned.best = i;
  }
}

void decide(TeamMeter& team, const Clock& clock, double end_s, TunedTeam& tuned) {
  const Periods periods = take_turns(team, {0, tuned.best, 0}, kLastTurns, clock, end_s);
  tuned.num_turns = periods.back().size();
  tuned.best_ratio = ratios(periods[1], periods[0]);
  tuned.noise_ratio = ratios(periods[2], periods[0]);
  const bool better =
      tuned.best_ratio.median < 1 - kLeastGain && tuned.best_ratio.upper < tuned.noise_ratio.lower;
  tuned.verdict = better ? Verdict::kBetter : Verdict::kDefault;
}

TunedTeam tune_team(const Machine& machine, std::uint32_t num_participants, Meter& meter,
                    const Clock& clock, double end_s) {
  const std::vector<CpuSet> bindings = *map_participants(machine, Mapping::kCore, num_participants);
  const std::vector<LocalityPath> paths = locate_all(machine, bindings);
  TunedTeam tuned;
  tuned.team = spread_of(machine, paths);
  std::vector<EnginePlan> plans;
  tuned.rivals = rival_shapes(paths, machine, plans);
  clock.report("barrier of " + std::to_string(num_participants) + " threads: " +
               std::to_string(plans.size()) + (plans.size() == 1 ? " shape" : " shapes"));
  const double start_s = clock.now();
  tuned.verdict = plans.size() == 1 ? Verdict::kNoChoice : Verdict::kNoTime;
  if (start_s >= end_s) return tuned;
  const std::unique_ptr<TeamMeter> team = meter.team(cpus_of(bindings), plans);
  search(*team, clock, start_s + kSearchShare * (end_s - start_s), tuned);
  if (tuned.best == 0 || clock.is_stopped()) return tuned;
  clock.report("barrier of " + std::to_string(num_participants) +
               " threads: the best shape against the automatic one");
  decide(*team, clock, end_s, tuned);
  return tuned;
}

}  // namespace

TunedPlan TunedTeam::plan() const {
  if (verdict != Verdict::kBetter) return TunedPlan{team, 0, HIERBAR_RELEASE_FLAGS};
  return TunedPlan{team, rivals[best].num_leaders, rivals[best].release};
}

std::vector<std::uint32_t> usual_team_sizes(const Machine& machine) {
  const std::uint32_t cores = machine.one_cpu_per_core(machine.allowed).count();
  const std::uint32_t cpus = machine.allowed.count();
  std::vector<std::uint32_t> sizes{cores};
  if (cpus != cores) sizes.push_back(cpus);
  return sizes;
}

std::vector<RivalShape> rival_shapes(const std::vector<LocalityPath>& paths, const Machine& machine,
                                     std::vector<EnginePlan>& plans) {
  const auto num_participants = static_cast<std::uint32_t>(paths.size());
  std::vector<std::uint32_t> leaders{0};
  if (num_participants > kMaxAlwaysFlat) {
    for (std::uint32_t count = 2; count <= std::min(num_participants, 32U); count *= 2)
      leaders.push_back(count);
    if (num_participants <= kWidestExchange) leaders.push_back(num_participants);
    leaders.push_back(spread_of(machine, paths).num_domains);
  }
  std::vector<RivalShape> rivals;
  for (const std::uint32_t count : leaders) {
    for (const hierbar_release_kind release : {HIERBAR_RELEASE_FLAGS, HIERBAR_RELEASE_LINES}) {
      EnginePlan plan = *build_engine_plan(paths, machine,
                                           ShapeOptions{.release = release, .num_leaders = count});
      if (std::any_of(plans.begin(), plans.end(),
                      [&](const EnginePlan& other) { return same_plan(plan, other); }))
        continue;
      rivals.push_back(RivalShape{
          count, release, static_cast<std::uint32_t>(plan.leaders.size()), plan.depth, {}, {}});
      plans.push_back(std::move(plan));
    }
  }
  return rivals;
}

Result<TuneReport> tune(const Machine& machine, const TuneRequest& request, Meter& meter,
                        const TuneHooks& hooks) {
  if (machine.allowed.empty()) return Error{"no cpu of the machine is allowed"};
  const Clock clock(hooks, request.time_limit_s);
  TuneReport report{identity_of(machine), meter.pause_ns(), {}, {}};
  report.latencies = measure_latencies(machine, meter, clock, kLatencyShare * request.time_limit_s);
  const std::vector<std::uint32_t> sizes =
      request.team_sizes.empty() ? usual_team_sizes(machine) : request.team_sizes;
  for (std::size_t i = 0; i < sizes.size() && !clock.is_stopped(); ++i) {
    const double left_s = std::max(0.0, request.time_limit_s - clock.now());
    const double end_s = clock.now() + left_s / static_cast<double>(sizes.size() - i);
    report.teams.push_back(tune_team(machine, sizes[i], meter, clock, end_s));
  }
  if (clock.is_stopped()) return Error{"interrupted"};
  return report;
}

}  // namespace hierbar
