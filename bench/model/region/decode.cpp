// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/region/decode.hpp"

#include <utility>

#include "bench/model/region/region_trial.hpp"

namespace hierbar::bench::model {
namespace {

// Ours, libomp's default, and two more of its patterns. The simulation of its distributed barrier
// finds no end where all threads are in one of its groups.
bool is_predicted(RegionShape shape) {
  return shape == RegionShape::kLean || shape == RegionShape::kHyper ||
         shape == RegionShape::kTree || shape == RegionShape::kLinear;
}

DecodePrediction predict(std::string name, bool has_regions, std::uint32_t num_threads,
                         std::vector<double> step_ns, const DecodeGraph& graph) {
  DecodePrediction prediction{.name = std::move(name),
                              .has_regions = has_regions,
                              .num_threads = num_threads,
                              .ideal_ns = graph_work_ns(graph) / num_threads,
                              .step_ns = std::move(step_ns),
                              .graph_ns = {},
                              .sync_shares = {}};
  for (const double step : prediction.step_ns) {
    const double sync = graph.num_operations * step;
    prediction.graph_ns.push_back(prediction.ideal_ns + sync);
    prediction.sync_shares.push_back(sync / (prediction.ideal_ns + sync));
  }
  return prediction;
}

}  // namespace

Result<std::vector<DecodePrediction>> predict_decodes(const ModelMachine& machine, Mapping mapping,
                                                      std::uint32_t num_threads,
                                                      const DecodeGraph& graph, std::uint64_t seed,
                                                      const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_threads);
  if (!scenario) return Error{scenario.error()};
  std::vector<DecodePrediction> predictions;
  for (const Algorithm algorithm : {Algorithm::kHier, Algorithm::kSenseReversing}) {
    Result<Costs> costs =
        cost_of(*scenario, algorithm, scenario->engine_plan(), machine.sets, seed, episodes);
    if (!costs) return Error{costs.error()};
    predictions.push_back(predict(std::string(algorithm_name(algorithm)), false, num_threads,
                                  std::move(costs->isolated), graph));
  }
  RegionTrial trial(*scenario, scenario->engine_plan());
  for (const NamedRegionShape& named : kRegionShapes) {
    if (!is_predicted(named.shape)) continue;
    std::vector<double> isolated;
    for (const ParameterSet& set : machine.sets) {
      const Result<RegionTimes> times = trial.run(named.shape, set.parameters, seed, episodes);
      if (!times) return Error{times.error()};
      isolated.push_back(times->isolated);
    }
    predictions.push_back(
        predict(std::string(named.name), true, num_threads, std::move(isolated), graph));
  }
  return predictions;
}

}  // namespace hierbar::bench::model
