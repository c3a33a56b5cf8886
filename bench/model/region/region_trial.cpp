// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/region/region_trial.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/pass_on.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/machine/simulator.hpp"
#include "bench/model/region/stock_shapes.hpp"
#include "plan/plan.h"

namespace hierbar::bench::model {
namespace {

// A lean region of KMP_BARRIER=hier. The functions are those of stock's patterns
// (stock_shapes.hpp).
//
// Who releases whom is production source (pass_on.hpp) on a real plan. The accesses themselves are
// C++ over libomp's own types in a program, so these are copies and must be kept like them:
// release() like __kmp_hierbar_release_region() (kmp_hierbar_payload.h), gather() like run_gather()
// (kmp_hierbar_phases.cpp).
template <class Mem>
class LeanShape {
 public:
  using Word = typename Mem::Word;

  // `width`: how many a thread releases of a queue.
  LeanShape(const SimulatedTeam<Mem>& team, const hierbar_plan& plan, std::uint32_t width)
      : team_(team), plan_(plan), width_(width), released_(team.num_threads, 0) {}

  bool release(Mem& mem, std::uint32_t me, Payload& payload) {
    ThreadLines<Word>& own = team_.threads[me];
    if (me != 0) {
      released_[me] += kStateBump;  // b_go is not reset
      if (!await_value(mem, own.release.go, released_[me])) return false;
      payload = {mem.load_relaxed(own.release.payload[0]),
                 mem.load_relaxed(own.release.payload[1])};
    }
    pass_on(*this, me, {width_, width_},
            [&](std::uint32_t other) { release_one(mem, other, payload); });
    mem.store_relaxed(own.task.word, 1);  // renew_task()
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    mem.load_relaxed(team_.threads[me].task.word);  // the blocktime
    const bool gathers = me == 0 || node(me).num_children != 0;
    const std::uint64_t arrived =
        gathers ? mem.load_relaxed(team_.lines.arrived.word) + kStateBump : 0;
    for (std::uint32_t i = 0; i < node(me).num_children; ++i) {
      if (!await_value(mem, team_.threads[child(node(me), i)].arrived.word, arrived)) return false;
    }
    if (me != 0) {
      mem.fetch_add(team_.threads[me].arrived.word, kStateBump);
      return true;
    }
    for (std::uint32_t i = 1; i < num_leaders(); ++i) {
      if (!await_value(mem, team_.threads[leader(i)].arrived.word, arrived)) return false;
    }
    mem.store_relaxed(team_.lines.arrived.word, arrived);
    return true;
  }

  // What pass_on() asks.
  const hierbar_plan_node& node(std::uint32_t thread) const { return plan_.nodes[thread]; }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const {
    return plan_.children[parent.first_child + i];
  }
  std::uint32_t num_leaders() const { return plan_.num_leaders; }
  std::uint32_t leader(std::uint32_t i) const { return plan_.leaders[i]; }

 private:
  // __kmp_hierbar_release_one()
  void release_one(Mem& mem, std::uint32_t thread, const Payload& payload) const {
    auto& line = team_.threads[thread].release;
    mem.store_relaxed(line.payload[0], payload.function);
    mem.store_relaxed(line.payload[1], payload.argument);
    mem.fetch_add(line.go, kStateBump);
  }

  SimulatedTeam<Mem> team_;
  hierbar_plan plan_;
  std::uint32_t width_;
  std::vector<std::uint64_t> released_;  // by thread, which keeps it to itself
};

// The halves of the barrier itself, on its own lines: production source. What it hands out are its
// payload bits, so it is a barrier with a place in its middle and no region.
template <class Mem>
class EngineHalves {
 public:
  EngineHalves(const hierbar_plan& plan, void* lines) : barrier_(plan, lines) {}

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    const Crossing crossing =
        barrier_.release(mem, me, static_cast<std::uint32_t>(payload.function));
    payload = {crossing.bits, crossing.bits};
    return crossing.result == WaitResult::kReleased;
  }
  bool gather(Mem& mem, std::uint32_t me) const {
    return barrier_.gather(mem, me, 0, [](std::uint32_t) {}).result == WaitResult::kReleased;
  }

 private:
  Barrier<Mem> barrier_;
};

// The first argument is that of the function.
Payload payload_of(std::uint32_t region, const RegionOptions& options) {
  const std::uint64_t function = 1 + region % options.num_functions;
  return {function, function};
}

SimulatedTeam<ModelMem> make_team(const Storage& storage, std::uint32_t num_threads) {
  auto* lines = new (storage.begin) TeamLines<Word>;
  auto* threads = reinterpret_cast<ThreadLines<Word>*>(storage.begin + sizeof(TeamLines<Word>));
  for (std::uint32_t i = 0; i < num_threads; ++i) new (threads + i) ThreadLines<Word>;
  return {num_threads, *lines, threads};
}

std::string_view name_of(RegionShape shape) {
  return std::find_if(kRegionShapes.begin(), kRegionShapes.end(),
                      [&](const auto& named) { return named.shape == shape; })
      ->name;
}

}  // namespace

// The times of thread 0's entries and exits and of the last threads' beginnings, by region.
struct RegionTrial::Record {
  explicit Record(std::uint32_t num_regions)
      : entered(num_regions, 0),
        last_begun(num_regions, 0),
        left(num_regions, 0),
        num_begun(num_regions, 0) {}

  std::vector<Time> entered;
  std::vector<Time> last_begun;
  std::vector<Time> left;
  std::vector<std::uint32_t> num_begun;

  // Of the regions from `warm_up` on.
  static double mean(const std::vector<Time>& begin, const std::vector<Time>& end,
                     std::uint32_t warm_up) {
    double sum = 0;
    for (std::size_t i = warm_up; i < end.size(); ++i) sum += end[i] - begin[i];
    return sum / static_cast<double>(end.size() - warm_up);
  }
};

RegionTrial::RegionTrial(Scenario& scenario, const EnginePlan& plan, const RegionOptions& options)
    : scenario_(scenario), plan_(plan), options_(options) {}

DistGroups RegionTrial::dist_groups() const {
  const Machine& machine = scenario_.machine();
  std::uint32_t num_packages = 0;
  for (const Unit& unit : machine.units) num_packages += unit.has(Level::kPackage) ? 1 : 0;
  num_packages = std::max(1U, num_packages);
  const auto num_cores =
      static_cast<std::uint32_t>(machine.one_cpu_per_core(machine.present).count());
  return {scenario_.places().count(), num_packages, num_cores / num_packages};
}

template <class Shape>
void RegionTrial::run_thread(Shape& shape, std::uint32_t me, const Parameters& parameters,
                             Metric metric, Record& record) {
  Simulator& simulator = scenario_.simulator();
  ModelMem mem(simulator, me);
  // The engine releases after it has gathered.
  if (std::is_same_v<Shape, EngineHalves<ModelMem>> && !shape.gather(mem, me)) return;
  const auto num_regions = static_cast<std::uint32_t>(record.left.size());
  for (std::uint32_t region = 0; region < num_regions; ++region) {
    const Payload expected = payload_of(region, options_);
    Payload payload = me == 0 ? expected : Payload{};
    if (metric == Metric::kIsolated) {
      simulator.meet(me);
    } else if (me == 0) {
      simulator.spend(0, parameters.episode);
    }
    if (me == 0) record.entered[region] = simulator.settle(0);
    if (!shape.release(mem, me, payload)) return;
    record.last_begun[region] = std::max(record.last_begun[region], simulator.settle(me));
    ++record.num_begun[region];
    const std::string name =
        "thread " + std::to_string(me) + ", region " + std::to_string(region) + ": ";
    if (payload != expected)
      simulator.fail(name + "it got function " + std::to_string(payload.function));
    if (!shape.gather(mem, me) || simulator.is_stopped()) return;
    if (me != 0) continue;
    record.left[region] = simulator.settle(0);
    if (record.num_begun[region] != scenario_.places().count())
      simulator.fail(name + "it left before all had begun");
  }
}

// Empty memory for the shape's lines, and their homes.
Storage RegionTrial::storage_for(RegionShape shape) {
  const Places& places = scenario_.places();
  const hierbar_plan plan = plan_.view();
  const bool is_engine = shape == RegionShape::kEngine;
  const std::size_t team_bytes =
      sizeof(TeamLines<Word>) + places.count() * sizeof(ThreadLines<Word>);
  const std::size_t size_bytes =
      is_engine ? barrier_size_bytes<ModelMem>(Algorithm::kHier, plan) : team_bytes;
  memory_.assign((size_bytes + sizeof(StorageLine) - 1) / sizeof(StorageLine), {});
  auto* begin = reinterpret_cast<std::byte*>(memory_.data());
  if (is_engine)
    return {begin, plan.line_bytes, domains_of_slots(places, plan, size_bytes / plan.line_bytes)};
  std::vector<std::uint32_t> domains(sizeof(TeamLines<Word>) / kLineBytes, places[0].domain);
  for (std::uint32_t i = 0; i < places.count(); ++i) {
    domains.insert(domains.end(), sizeof(ThreadLines<Word>) / kLineBytes,
                   places[options_.is_local ? i : 0].domain);
  }
  return {begin, kLineBytes, std::move(domains)};
}

Result<RegionTrial::Record> RegionTrial::run_with(RegionShape shape, const Parameters& parameters,
                                                  Metric metric, std::uint64_t seed,
                                                  std::uint32_t num_regions) {
  const SimulationCostMeter meter(num_regions);
  const Storage storage = storage_for(shape);
  const hierbar_plan plan = plan_.view();
  Record record(num_regions);
  const auto run = [&](auto&& threads_shape) {
    return scenario_.simulator().run(parameters, storage, seed, [&](std::uint32_t me) {
      run_thread(threads_shape, me, parameters, metric, record);
    });
  };
  const auto run_on_team = [&](auto make) {
    return run(make(make_team(storage, scenario_.places().count())));
  };
  const auto run_lean = [&](std::uint32_t width) {
    return run_on_team([&](auto team) { return LeanShape<ModelMem>(team, plan, width); });
  };
  const auto run_shape = [&]() -> std::string {
    switch (shape) {
      case RegionShape::kLean:
        return run_lean(kReleaseWidth);
      case RegionShape::kLeanAtOnce:
        return run_lean(kReleaseAtOnce);
      case RegionShape::kEngine:
        return run(EngineHalves<ModelMem>(plan, storage.begin));
      case RegionShape::kHyper:
        return run_on_team([](auto team) { return HyperPattern<ModelMem>(team); });
      case RegionShape::kTree:
        return run_on_team([](auto team) { return TreePattern<ModelMem>(team); });
      case RegionShape::kLinear:
        return run_on_team([](auto team) { return LinearPattern<ModelMem>(team); });
      case RegionShape::kDist:
        return run_on_team([&](auto team) { return DistPattern<ModelMem>(team, dist_groups()); });
    }
    return "no such shape";
  };
  const std::string failure = run_shape();
  if (!failure.empty()) return Error{std::string(name_of(shape)) + ": " + failure};
  return record;
}

Result<RegionTimes> RegionTrial::run(RegionShape shape, const Parameters& parameters,
                                     std::uint64_t seed, const Episodes& episodes) {
  const std::uint32_t num_regions = episodes.warm_up + episodes.measured;
  const Result<Record> together = run_with(shape, parameters, Metric::kPeriod, seed, num_regions);
  if (!together) return Error{together.error()};
  const Result<Record> alone = run_with(shape, parameters, Metric::kIsolated, seed, num_regions);
  if (!alone) return Error{alone.error()};
  const Time all = together->left.back() - together->left[episodes.warm_up - 1];
  return RegionTimes{all / episodes.measured,
                     Record::mean(alone->entered, alone->last_begun, episodes.warm_up),
                     Record::mean(alone->entered, alone->left, episodes.warm_up)};
}

Result<std::vector<RegionRow>> compare_regions(const ModelMachine& machine, Mapping mapping,
                                               std::uint32_t num_threads, std::uint64_t seed,
                                               const RegionOptions& options,
                                               const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_threads);
  if (!scenario) return Error{scenario.error()};
  RegionTrial trial(*scenario, scenario->engine_plan(), options);
  std::vector<RegionRow> rows;
  for (const NamedRegionShape& named : kRegionShapes) {
    RegionCosts costs;
    for (const ParameterSet& set : machine.sets) {
      const Result<RegionTimes> times = trial.run(named.shape, set.parameters, seed, episodes);
      if (!times) return Error{times.error()};
      costs.period.push_back(times->period);
      costs.isolated.push_back(times->isolated);
      costs.fork.push_back(times->fork);
      costs.join.push_back(times->isolated - times->fork);
    }
    rows.push_back({named, std::move(costs)});
  }
  return rows;
}

const RegionRow& find_row(const std::vector<RegionRow>& rows, RegionShape shape) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const RegionRow& row) { return row.named.shape == shape; });
}

std::vector<double> ratios_to_stock(const std::vector<RegionRow>& rows, RegionShape shape,
                                    std::vector<double> RegionCosts::* figures) {
  std::vector<double> ratios = find_row(rows, shape).costs.*figures;
  for (std::size_t set = 0; set < ratios.size(); ++set) {
    double best = std::numeric_limits<double>::infinity();
    for (const RegionRow& row : rows) {
      if (row.named.is_stock) best = std::min(best, (row.costs.*figures)[set]);
    }
    ratios[set] /= best;
  }
  return ratios;
}

}  // namespace hierbar::bench::model
