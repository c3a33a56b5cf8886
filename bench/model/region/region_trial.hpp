// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/model/region/dist_pattern.hpp"
#include "bench/model/trial/scenario.hpp"

namespace hierbar::bench::model {

// How a team forks and joins.
enum class RegionShape : std::uint8_t {
  kLean,        // ours, see lean_shape.hpp
  kLeanAtOnce,  // the same where threads outnumber cpus: nobody passes the release on
  kEngine,      // the two halves of our barrier on its own lines
  kHyper,       // unmodified libomp's, see stock_shapes.hpp and dist_pattern.hpp
  kTree,
  kLinear,
  kDist,
};
struct NamedRegionShape {
  RegionShape shape;
  std::string_view name;
  bool is_stock;
};
inline constexpr std::array<NamedRegionShape, 7> kRegionShapes = {{{RegionShape::kLean, "lean", false},
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
  Result<RegionTimes> run(RegionShape shape, const Parameters& parameters, std::uint64_t seed, const Episodes& episodes = {});

 private:
  struct Record;
  using StorageLine = OneWord<std::array<Word, kLineBytes / sizeof(Word)>>;

  DistGroups dist_groups() const;
  Storage storage_for(RegionShape shape);
  Result<Record> run_with(RegionShape shape, const Parameters& parameters, Metric metric, std::uint64_t seed,
                          std::uint32_t num_regions);
  template <class Shape>
  void run_thread(Shape& shape, std::uint32_t me, const Parameters& parameters, Metric metric, Record& record);

  Scenario& scenario_;
  EnginePlan plan_;
  RegionOptions options_;
  std::vector<StorageLine> memory_;
};

}  // namespace hierbar::bench::model
