// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/json_output.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/trial/hybrid.hpp"

namespace hierbar::bench::model {
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

std::string row_text(const HybridRow& row, const char* metric, std::vector<double> Costs::* figures) {
  const auto us = [](const std::vector<double>& values) { return range_of(values).median / 1000; };
  const Range ratio = ratio_of(row, figures);
  return fmt::format("{:<12}{:<10}{:>9.2f}{:>9.2f}{:>9.2f}{:>10.2f}  {:>20}\n",
                     fmt::format("{} x {}", row.num_ranks, row.num_threads), metric, us(row.one.*figures),
                     us(row.threads.*figures), us(row.ranks.*figures), us(sequence(row, figures)),
                     fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio.median, ratio.least, ratio.most));
}

nlohmann::ordered_json to_json(const HybridRow& row) {
  nlohmann::ordered_json json{{"ranks", row.num_ranks}, {"threads", row.num_threads}};
  for (const auto& [name, figures] : {std::pair{"period", &Costs::period}, {"isolated", &Costs::isolated}}) {
    const Range ratio = ratio_of(row, figures);
    json[name] = {{"one", model::to_json(range_of(row.one.*figures))},
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
    rows.push_back(require(
        compare_hybrid(machine, chosen_mapping(options.common), options.num_participants, num_ranks, options.common.seed)));
  }
  const bool is_met = std::all_of(rows.begin(), rows.end(), [](const HybridRow& row) { return most_ratio(row) <= kMostRatio; });
  nlohmann::ordered_json report = start_report("hierbar-model-hybrid-1", machine, options.common);
  report["is_met"] = is_met;
  std::string text = fmt::format("{:<12}{:<10}{:>9}{:>9}{:>9}{:>10}  {:>20}\n", "us", "metric", "one", "omp", "MPI", "sequence",
                                 "one to sequence");
  for (const HybridRow& row : rows) {
    report["rows"].push_back(to_json(row));
    text += row_text(row, "period", &Costs::period) + row_text(row, "isolated", &Costs::isolated);
  }
  if (options.common.json_path != "-") {
    fmt::print("{}: {} participants as ranks x threads, map {}, {} parameter sets, seed {}\n{}\n\n{}\n", machine.title,
               options.num_participants, options.common.mapping, machine.sets.size(), options.common.seed, machine.provenance,
               text);
    fmt::print("{:<7} one barrier of all threads takes at most {} of the sequence; every set, both metrics\n",
               is_met ? "met" : "MISSED", kMostRatio);
  }
  json.write(report);
  return options.check && !is_met ? 1 : 0;
}

}  // namespace

void add_hybrid_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("hybrid", "One barrier of all threads of all ranks, beside omp + MPI + omp");
  auto options = std::make_shared<HybridOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command->add_option("-n,--participants", options->num_participants, "Threads of all ranks together")
      ->check(CLI::Range(4, 4096))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--ranks", options->num_ranks, "Numbers of ranks, each with as many threads as the others")
      ->delimiter(',')
      ->check(CLI::Range(2, 2048))
      ->type_name("R,...")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check, "Return 1 when the target is missed");
  command->footer(
      "  one       the barrier of hierbar/mpi.h: all threads of all ranks in one episode\n"
      "  omp, MPI  the barrier of one rank's threads (the slowest rank's), and that of one thread of each rank\n"
      "  sequence  omp + MPI + omp, what programs call today\n"
      "The same barrier runs in all parts. Figures are medians over the parameter sets.\n"
      "\n"
      "Examples:\n"
      "  barrier_model hybrid --check\n"
      "  barrier_model hybrid --machine milan --ranks 2,4,8,16\n");
  command->callback([options, &status] { status = hybrid(*options); });
}

}  // namespace hierbar::bench::model
