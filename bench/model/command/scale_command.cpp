// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/json_output.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {
namespace {

struct ScaleOptions {
  CommonOptions common;
  std::vector<std::uint32_t> counts{8, 16, 32, 64, 128, 256, 512, 1024};
  bool check = false;
};

// The gain that the engine must reach with the most participants, in every parameter set and by
// both metrics.
constexpr double kLeastGain = 1.5;

using Steps = std::vector<std::vector<ComparedRow>>;  // by number of participants

std::string header(const Steps& steps) {
  std::string text = fmt::format("{:<26}", "period, us");
  for (const auto& rows : steps) text += fmt::format("{:>9}", rows.front().num_participants);
  return text + "\n";
}

std::string steps_text(const Steps& steps) {
  std::string text = header(steps);
  for (const NamedAlgorithm& named : kAlgorithms) {
    text += fmt::format("{:<26}", named.name);
    for (const auto& rows : steps) {
      const ComparedRow* row = find_row(rows, named.algorithm);
      text += row == nullptr ? fmt::format("{:>9}", "-") : fmt::format("{:>9.2f}", range_of(row->costs.period).median / 1000);
    }
    text += "\n";
  }
  text += fmt::format("{:<26}", "fastest classic / hier");
  for (const auto& rows : steps) text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::period)).median);
  text += fmt::format("\n{:<26}", "  in the worst set");
  for (const auto& rows : steps) text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::period)).least);
  text += fmt::format("\n{:<26}", "  isolated, worst set");
  for (const auto& rows : steps) text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::isolated)).least);
  return text + "\n";
}

// The least gain over the parameter sets and both metrics.
double least_gain(const std::vector<ComparedRow>& rows) {
  return std::min(range_of(gains_over_classic(rows, &Costs::period)).least,
                  range_of(gains_over_classic(rows, &Costs::isolated)).least);
}

std::string target_text(const Steps& steps) {
  const double gain = least_gain(steps.back());
  return fmt::format(
      "{:<7} {} participants: {:.2f} x as fast as the fastest classic algorithm at least, at least {}; every set, "
      "both metrics\n",
      gain >= kLeastGain ? "met" : "MISSED", steps.back().front().num_participants, gain, kLeastGain);
}

int scale(const ScaleOptions& options) {
  constexpr Episodes kEpisodes{.warm_up = 2, .measured = 4};
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const Mapping mapping = chosen_mapping(options.common);
  Steps steps;
  nlohmann::ordered_json report = start_report("hierbar-model-scale-1", machine, options.common);
  SimulationCost before;
  for (const std::uint32_t count : options.counts) {
    if (count > machine.machine.allowed.count()) continue;
    steps.push_back(require(compare_algorithms(machine, mapping, count, options.common.seed, kEpisodes)));
    for (const ComparedRow& row : steps.back()) report["rows"].push_back(to_json(row));
    const SimulationCost now = simulation_cost();
    report["simulation"].push_back(to_json(now - before));
    before = now;
  }
  if (steps.empty()) throw Refusal("--counts: the machine has " + std::to_string(machine.machine.allowed.count()) + " cpus");
  if (options.common.json_path != "-") {
    fmt::print("{}: map {}, {} parameter sets, seed {}\n{}\n\n{}\n{}{}\n", machine.title, options.common.mapping,
               machine.sets.size(), options.common.seed, machine.provenance, steps_text(steps), target_text(steps),
               text_of(simulation_cost()));
  }
  report["least_gain_over_classic"] = least_gain(steps.back());
  json.write(report);
  return options.check && least_gain(steps.back()) < kLeastGain ? 1 : 0;
}

}  // namespace

void add_scale_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("scale", "How the cost of every algorithm grows with the number of participants");
  auto options = std::make_shared<ScaleOptions>();
  add_machine_options(*command, options->common, "manycore");
  command->add_option("--counts", options->counts, "Numbers of participants; those above the machine's cpus are left out")
      ->delimiter(',')
      ->check(CLI::Range(2, 4096))
      ->type_name("N,...")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check, "Return 1 when the target for the last of them is missed");
  command->footer(
      "Figures are medians over the parameter sets. The last lines are the ratio of the fastest classic algorithm of each\n"
      "set to our plan (hier): the median of the periods' ratios, and the least by both metrics.\n"
      "\n"
      "Examples:\n"
      "  barrier_model scale\n"
      "  barrier_model scale --counts 1024 --check\n"
      "  barrier_model scale --machine kunpeng920 --counts 8,32,128 --json growth.json\n");
  command->callback([options, &status] { status = scale(*options); });
}

}  // namespace hierbar::bench::model
