// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::uint32_t num_participants = 0;  // 0: one for each core
};

std::string range_text(const Range& range) {
  return fmt::format("{:>9.2f} {:>17}", range.median / 1000,
                     fmt::format("{:.2f} .. {:.2f}", range.least / 1000, range.most / 1000));
}

std::string rows_text(const std::vector<ComparedRow>& rows) {
  const ComparedRow& engine = *find_row(rows, Algorithm::kHier);
  std::string text = fmt::format("{:<26}{:>9} {:>17}{:>10} {:>17}  {:>18}\n", "us", "period",
                                 "least .. most", "isolated", "least .. most", "period to hier");
  for (const ComparedRow& row : rows) {
    const Range ratio = ratio_range(row.costs.period, engine.costs.period);
    text +=
        fmt::format("{:<26}{} {}  {:>18}\n", row.name, range_text(range_of(row.costs.period)),
                    range_text(range_of(row.costs.isolated)),
                    fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio.median, ratio.least, ratio.most));
  }
  return text;
}

std::uint32_t num_cores(const Machine& machine) {
  return static_cast<std::uint32_t>(machine.one_cpu_per_core(machine.allowed).count());
}

void compare(const CompareOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const Mapping mapping = chosen_mapping(options.common);
  const std::uint32_t count =
      options.num_participants != 0 ? options.num_participants : num_cores(machine.machine);
  const std::vector<ComparedRow> rows =
      require(compare_algorithms(machine, mapping, count, options.common.seed));
  if (options.common.json_path != "-") {
    fmt::print("{}: {} participants, map {}, {} parameter sets, seed {}\n{}\n\n{}\n{}\n",
               machine.title, count, options.common.mapping, machine.sets.size(),
               options.common.seed, machine.provenance, rows_text(rows),
               text_of(simulation_cost()));
  }
  nlohmann::ordered_json report = start_report("hierbar-model-compare-1", machine, options.common);
  report["simulation"] = to_json(simulation_cost());
  for (const ComparedRow& row : rows) report["rows"].push_back(to_json(row));
  json.write(report);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare", "Every algorithm on one simulated machine, by both metrics");
  auto options = std::make_shared<CompareOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command
      ->add_option("--participants", options->num_participants,
                   "Participants of the barrier; default: one for each core")
      ->check(CLI::Range(2, 4096))
      ->type_name("N");
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--participants");
  add_run_options(*command, options->common);
  command->footer(
      "  period    barriers back to back: from one to the next\n"
      "  isolated  one barrier that all enter together: from the last entry to the last exit\n"
      "\n"
      "Figures are medians over the parameter sets with the least and the most of them. Of "
      "machines whose costs are\n"
      "borrowed believe the order of algorithms that are far apart, not the times.\n"
      "\n"
      "Examples:\n"
      "  barrier_model compare\n"
      "  barrier_model compare --machine milan --participants 64\n"
      "  barrier_model compare --topology node17.xml --c2c node17.csv --json node17.json\n");
  command->callback([options] { compare(*options); });
}

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
      text += row == nullptr ? fmt::format("{:>9}", "-")
                             : fmt::format("{:>9.2f}", range_of(row->costs.period).median / 1000);
    }
    text += "\n";
  }
  text += fmt::format("{:<26}", "fastest classic / hier");
  for (const auto& rows : steps)
    text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::period)).median);
  text += fmt::format("\n{:<26}", "  in the worst set");
  for (const auto& rows : steps)
    text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::period)).least);
  text += fmt::format("\n{:<26}", "  isolated, worst set");
  for (const auto& rows : steps)
    text += fmt::format("{:>9.2f}", range_of(gains_over_classic(rows, &Costs::isolated)).least);
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
      "{:<7} {} participants: {:.2f} x as fast as the fastest classic algorithm at least, at least "
      "{}; every set, "
      "both metrics\n",
      gain >= kLeastGain ? "met" : "MISSED", steps.back().front().num_participants, gain,
      kLeastGain);
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
    steps.push_back(
        require(compare_algorithms(machine, mapping, count, options.common.seed, kEpisodes)));
    for (const ComparedRow& row : steps.back()) report["rows"].push_back(to_json(row));
    const SimulationCost now = simulation_cost();
    report["simulation"].push_back(to_json(now - before));
    before = now;
  }
  if (steps.empty())
    throw Refusal("--counts: the machine has " + std::to_string(machine.machine.allowed.count()) +
                  " cpus");
  if (options.common.json_path != "-") {
    fmt::print("{}: map {}, {} parameter sets, seed {}\n{}\n\n{}\n{}{}\n", machine.title,
               options.common.mapping, machine.sets.size(), options.common.seed, machine.provenance,
               steps_text(steps), target_text(steps), text_of(simulation_cost()));
  }
  report["least_gain_over_classic"] = least_gain(steps.back());
  json.write(report);
  return options.check && least_gain(steps.back()) < kLeastGain ? 1 : 0;
}

}  // namespace

void add_scale_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "scale", "How the cost of every algorithm grows with the number of participants");
  auto options = std::make_shared<ScaleOptions>();
  add_machine_options(*command, options->common, "manycore");
  command
      ->add_option("--counts", options->counts,
                   "Numbers of participants; those above the machine's cpus are left out")
      ->delimiter(',')
      ->check(CLI::Range(2, 4096))
      ->type_name("N,...")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check,
                    "Judge the figures: return 1 when the target for the last of them is missed");
  command->footer(
      "Figures are medians over the parameter sets. The last lines are the ratio of the fastest "
      "classic algorithm of each\n"
      "set to our plan (hier): the median of the periods' ratios, and the least by both metrics.\n"
      "\n"
      "Examples:\n"
      "  barrier_model scale\n"
      "  barrier_model scale --counts 1024 --check\n"
      "  barrier_model scale --machine kunpeng920 --counts 8,32,128 --json growth.json\n");
  command->callback([options, &status] { status = scale(*options); });
}

namespace {

struct HybridOptions {
  CommonOptions common;
  std::uint32_t num_participants = 128;
  std::vector<std::uint32_t> num_ranks{8, 4, 2};
  bool check = false;
};

// What the barrier of all threads may take of the sequence's time, in every parameter set and by
// both metrics.
constexpr double kMostRatio = 0.6;

Range ratio_of(const HybridRow& row, std::vector<double> Costs::* figures) {
  return ratio_range(row.one.*figures, sequence(row, figures));
}

double most_ratio(const HybridRow& row) {
  return std::max(ratio_of(row, &Costs::period).most, ratio_of(row, &Costs::isolated).most);
}

std::string row_text(const HybridRow& row, const char* metric,
                     std::vector<double> Costs::* figures) {
  const auto us = [](const std::vector<double>& values) { return range_of(values).median / 1000; };
  const Range ratio = ratio_of(row, figures);
  return fmt::format("{:<12}{:<10}{:>9.2f}{:>9.2f}{:>9.2f}{:>10.2f}  {:>20}\n",
                     fmt::format("{} x {}", row.num_ranks, row.num_threads), metric,
                     us(row.one.*figures), us(row.threads.*figures), us(row.ranks.*figures),
                     us(sequence(row, figures)),
                     fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio.median, ratio.least, ratio.most));
}

nlohmann::ordered_json to_json(const HybridRow& row) {
  nlohmann::ordered_json json{{"ranks", row.num_ranks}, {"threads", row.num_threads}};
  for (const auto& [name, figures] :
       {std::pair{"period", &Costs::period}, {"isolated", &Costs::isolated}}) {
    const Range ratio = ratio_of(row, figures);
    json[name] = {
        {"one", model::to_json(range_of(row.one.*figures))},
        {"threads", model::to_json(range_of(row.threads.*figures))},
        {"ranks", model::to_json(range_of(row.ranks.*figures))},
        {"sequence", model::to_json(range_of(sequence(row, figures)))},
        {"ratio", {{"median", ratio.median}, {"least", ratio.least}, {"most", ratio.most}}}};
  }
  return json;
}

int hybrid(const HybridOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  std::vector<HybridRow> rows;
  for (const std::uint32_t num_ranks : options.num_ranks) {
    rows.push_back(
        require(compare_hybrid(machine, chosen_mapping(options.common), options.num_participants,
                               num_ranks, options.common.seed)));
  }
  const bool is_met = std::all_of(
      rows.begin(), rows.end(), [](const HybridRow& row) { return most_ratio(row) <= kMostRatio; });
  nlohmann::ordered_json report = start_report("hierbar-model-hybrid-1", machine, options.common);
  report["is_met"] = is_met;
  std::string text = fmt::format("{:<12}{:<10}{:>9}{:>9}{:>9}{:>10}  {:>20}\n", "us", "metric",
                                 "one", "omp", "MPI", "sequence", "one to sequence");
  for (const HybridRow& row : rows) {
    report["rows"].push_back(to_json(row));
    text += row_text(row, "period", &Costs::period) + row_text(row, "isolated", &Costs::isolated);
  }
  if (options.common.json_path != "-") {
    fmt::print(
        "{}: {} participants as ranks x threads, map {}, {} parameter sets, seed {}\n{}\n\n{}\n",
        machine.title, options.num_participants, options.common.mapping, machine.sets.size(),
        options.common.seed, machine.provenance, text);
    fmt::print(
        "{:<7} one barrier of all threads takes at most {} of the sequence; every set, both "
        "metrics\n",
        is_met ? "met" : "MISSED", kMostRatio);
  }
  json.write(report);
  return options.check && !is_met ? 1 : 0;
}

}  // namespace

void add_hybrid_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "hybrid", "One barrier of all threads of all ranks, beside omp + MPI + omp");
  auto options = std::make_shared<HybridOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command
      ->add_option("--participants", options->num_participants,
                   "Participants of the barrier, the threads of all ranks together")
      ->check(CLI::Range(4, 4096))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--ranks", options->num_ranks,
                   "Ranks of the job, several numbers, each with as many threads as the others")
      ->delimiter(',')
      ->check(CLI::Range(2, 2048))
      ->type_name("R,...")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--participants");
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check,
                    "Judge the figures: return 1 when the target is missed");
  command->footer(
      "  one       the barrier of hierbar/mpi.h: all threads of all ranks in one episode\n"
      "  omp, MPI  the barrier of one rank's threads (the slowest rank's), and that of one thread "
      "of each rank\n"
      "  sequence  omp + MPI + omp, what programs call today\n"
      "The same barrier runs in all parts. Figures are medians over the parameter sets.\n"
      "\n"
      "Examples:\n"
      "  barrier_model hybrid --check\n"
      "  barrier_model hybrid --machine milan --ranks 2,4,8,16\n");
  command->callback([options, &status] { status = hybrid(*options); });
}

}  // namespace hierbar::bench::model
