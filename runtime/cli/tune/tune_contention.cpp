// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/tune_session.hpp"

#include <cstdio>
#include <iostream>
#include <optional>

#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/option/channel_costs.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/tune/channel_pairs.hpp"
#include "network/contention/traffic.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

using network::WorkerPlan;

constexpr const char* kPairsOption = "--pairs";
constexpr const char* kSizesOption = "--sizes";
constexpr std::uint32_t kMostPairs = 1024;
constexpr std::size_t kMostMessageSizes = 32;

WorkerPlan read_plan(const TuneOptions& options, const Machine& machine) {
  WorkerPlan plan;
  plan.time_limit_s = parse_time_limit(options.time_limit);
  plan.most_pairs = parse_count(options.pairs, kMostPairs);
  if (plan.most_pairs == 0)
    refuse(kPairsOption, options.pairs, "no such number of pairs",
           "1 to " + std::to_string(kMostPairs));
  plan.oversubscribed = options.oversubscribed;
  plan.channels = channels_of(machine);
  if (options.sizes.empty()) return plan;
  plan.sizes.clear();
  for (const std::string& word : lower_words(options.sizes, ',')) {
    plan.sizes.push_back(network::parse_size(word));
    const bool ascends =
        plan.sizes.size() < 2 || plan.sizes[plan.sizes.size() - 2] < plan.sizes.back();
    if (plan.sizes.back() == 0 || plan.sizes.back() > network::kMeasuredSizes.back() || !ascends) {
      refuse(kSizesOption, options.sizes, "'" + word + "' is not a valid size",
             "an ascending comma list of sizes up to 128M");
    }
  }
  if (plan.sizes.size() > kMostMessageSizes)
    refuse(kSizesOption, options.sizes, "too many", "up to 32");
  return plan;
}

// What the environment says of messages inside a node. Empty: the library chooses.
std::string single_copy() {
  return settings_in(
      own_environment(),
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "OMPI_MCA_btl_sm_single_copy_mechanism",
       "MPIR_CVAR_CH4_SHM_POSIX_TOPO_ENABLE", "I_MPI_SHM", "MV2_SMP_USE_CMA"});
}

struct ToldContention {
  network::Contention contention;
  std::string refusal;
  std::size_t num_cells = 0;
  bool has_ended = false;
};

// What stands behind `beginning`, if the line begins so.
std::optional<std::string> rest_of(const std::string& line, const std::string& beginning) {
  if (!line.starts_with(beginning)) return std::nullopt;
  return line.substr(beginning.size());
}

void listen(const std::string& line, const WorkerPlan& plan, TuneProgress& progress,
            ToldContention& told) {
  if (const auto cell = rest_of(line, network::kCellLine)) {
    const Result<bool> put = network::put_cell_line(*cell, told.contention);
    if (!put) told.refusal = "the worker's answer cannot be parsed: " + put.error();
    ++told.num_cells;
    const auto all =
        static_cast<double>(plan.channels.size() * plan.sizes.size() * plan.most_pairs);
    progress.show(std::min(1.0, static_cast<double>(told.num_cells) / all), "shared channels");
  } else if (const auto left_out = rest_of(line, network::kLeftOutLine)) {
    std::cerr << "hierbar tune: no time for messages over " << *left_out << " bytes; see "
              << kTimeLimitOption << '\n';
  } else if (const auto refusal = rest_of(line, network::kContentionRefusalLine)) {
    told.refusal = *refusal;
  } else if (line == network::kContentionEndLine) {
    told.has_ended = true;
  } else {
    std::cerr << line << '\n';
  }
}

void print_table(network::ChannelKind kind, const network::ContentionTable& table) {
  std::printf(
      "\n%s: us for a message, and the slowdown, by pairs that share the channel; * more than "
      "their number\n",
      channel_name(kind));
  for (const auto& [num_bytes, row] : table.cells()) {
    std::printf("  %8s", network::size_text(num_bytes).c_str());
    for (const auto& [cf, time] : row) {
      std::printf("  %u: %10.1f %5.2f%s", cf, time.median, table.slowdown(num_bytes, cf),
                  table.is_collapse(num_bytes, cf) ? "*" : " ");
    }
    std::printf("\n");
  }
}

}  // namespace

network::Contention measure_contention(const TuneOptions& options, const Program& launcher) {
  const Result<Machine> machine = load_live_machine();
  if (!machine) fail_tuning(machine.error());
  const WorkerPlan plan = read_plan(options, *machine);
  const Program program =
      worker_command(launcher, options, "contention_worker", network::worker_arguments(plan));
  const StopOnSignal stop;
  TuneProgress progress(options.quiet);
  ToldContention told{.contention = {machine_identity(*machine), single_copy(), {}}, .refusal = {}};
  const WorkerListener listener{
      [&](const std::string& line) { listen(line, plan, progress, told); },
      [&] { return told.has_ended || !told.refusal.empty(); }, [] { return stop_signal != 0; }};
  const WorkerEnd end = run_worker(program, plan.time_limit_s + kForTheLauncher_s, listener);
  progress.clear();
  if (stop_signal != 0) fail_tuning("stopped; nothing is written", 128 + stop_signal);
  if (!told.refusal.empty()) fail_tuning(told.refusal + "; nothing is written");
  if (!told.has_ended) {
    const std::string how =
        end.problem.empty() ? "ended with status " + std::to_string(end.exit_code) : end.problem;
    fail_tuning("'" + program.front() + "': " + how +
                " before all was measured; nothing is written");
  }
  return told.contention;
}

void print(const network::Contention& contention) {
  for (const auto& [kind, table] : contention.tables) print_table(kind, table);
}

}  // namespace hierbar
