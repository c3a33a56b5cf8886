// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/model/region/stock_shapes.hpp"
#include "bench/model/trial/compare.hpp"
#include "bench/model/trial/trial.hpp"

namespace hierbar::bench::model {

// How a team forks and joins.
enum class RegionShape : std::uint8_t {
  kLean,        // ours, see region_trial.cpp
  kLeanAtOnce,  // the same where threads outnumber cpus: nobody passes the release on
  kEngine,      // the two halves of our barrier on its own lines
  kHyper,       // unmodified libomp's, see stock_shapes.hpp
  kTree,
  kLinear,
  kDist,
};
struct NamedRegionShape {
  RegionShape shape;
  std::string_view name;
  bool is_stock;
};
inline constexpr std::array<NamedRegionShape, 7> kRegionShapes = {
    {{RegionShape::kLean, "lean", false},
     {RegionShape::kLeanAtOnce, "lean_at_once", false},
     {RegionShape::kEngine, "engine", false},
     {RegionShape::kHyper, "hyper", true},
     {RegionShape::kTree, "tree", true},
     {RegionShape::kLinear, "linear", true},
     {RegionShape::kDist, "dist", true}}};

struct RegionOptions {
  // So many regions take turns. With one, unmodified libomp has nothing to write in the team.
  std::uint32_t num_functions = 1;
  // Whose memory the lines of a thread are in: its own domain's, or thread 0's, which has allocated
  // them.
  bool is_local = true;
};

// Empty regions, ns for one: the mean over the measured ones.
struct RegionTimes {
  double period = 0;  // back to back, with thread 0's work between two of them
  // One that all threads wait for, from thread 0's entry ...
  double fork = 0;      // ... until the last thread has begun
  double isolated = 0;  // ... until thread 0 leaves
};

// Regions of a simulated team. Every run checks that nobody hangs, that each thread executes what
// thread 0 handed out, and that thread 0 leaves no region before all have executed it.
class RegionTrial {
 public:
  // `scenario` must live longer than the trial.
  RegionTrial(Scenario& scenario, const EnginePlan& plan, const RegionOptions& options = {});

  // The error says how the region failed.
  Result<RegionTimes> run(RegionShape shape, const Parameters& parameters, std::uint64_t seed,
                          const Episodes& episodes = {});

 private:
  struct Record;
  using StorageLine = OneWord<std::array<Word, kLineBytes / sizeof(Word)>>;

  DistGroups dist_groups() const;
  Storage storage_for(RegionShape shape);
  Result<Record> run_with(RegionShape shape, const Parameters& parameters, Metric metric,
                          std::uint64_t seed, std::uint32_t num_regions);
  template <class Shape>
  void run_thread(Shape& shape, std::uint32_t me, const Parameters& parameters, Metric metric,
                  Record& record);

  Scenario& scenario_;
  EnginePlan plan_;
  RegionOptions options_;
  std::vector<StorageLine> memory_;
};

// One shape's regions in every parameter set, in ns.
struct RegionCosts {
  std::vector<double> period;
  std::vector<double> isolated;
  std::vector<double> fork;  // of isolated
  std::vector<double> join;  // the rest of it
};
struct RegionRow {
  NamedRegionShape named;
  RegionCosts costs;
};

// All shapes, in the order of kRegionShapes. Errors: those of Scenario::make(), and how a region
// failed.
Result<std::vector<RegionRow>> compare_regions(const ModelMachine& machine, Mapping mapping,
                                               std::uint32_t num_threads, std::uint64_t seed,
                                               const RegionOptions& options = {},
                                               const Episodes& episodes = {});

const RegionRow& find_row(const std::vector<RegionRow>& rows, RegionShape shape);

// For each parameter set: a shape's figure as a part of that of the best of libomp's patterns,
// which need not be the same one in all sets.
std::vector<double> ratios_to_stock(const std::vector<RegionRow>& rows, RegionShape shape,
                                    std::vector<double> RegionCosts::* figures);

}  // namespace hierbar::bench::model
