// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// stencil_bench: a hybrid stencil with and without placement. `--help` prints its manual.

#include "bench/stencil/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/child_process.hpp"
#include "bench/common/driver.hpp"
#include "bench/common/host.hpp"
#include "bench/common/others/load.hpp"
#include "bench/common/report/json_output.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/revision.hpp"
#include "bench/common/statistics.hpp"
#include "bench/common/text.hpp"

namespace {

using namespace hierbar::bench;
using namespace hierbar::bench::stencil;
using nlohmann::json;

// The program ends itself, and with it its launcher, so many seconds before it would be killed.
constexpr int kBeforeKillS = 2;

// The launches with one value of HIERBAR_PLACE.
struct Variant {
  const char* place;
  SamplesByRepetition us_per_sweep;
  json last_answer;
  std::string failure;  // empty if all launches were correct
};

std::vector<std::string> launch_command(const StencilOptions& options, const char* place) {
  std::vector<std::string> command{options.launcher};
  const auto set = [&command](const char* name, const std::string& value) {
    command.insert(command.end(), {"-genv", name, value});
  };
  set("LD_LIBRARY_PATH", std::filesystem::absolute(options.lib_dir));
  set("KMP_BARRIER", "hier");
  if (!options.barrier.empty()) set("LD_PRELOAD", std::filesystem::absolute(options.shim));
  set("HIERBAR_PLACE", place);
  set("OMP_NUM_THREADS", std::to_string(options.num_threads));
  set("OMP_PLACES", options.places);
  if (options.bind_to != "none") command.insert(command.end(), {"-bind-to", options.bind_to});
  command.insert(command.end(), options.launch_options.begin(), options.launch_options.end());
  const int limit_s = std::max(1, static_cast<int>(options.timeout_s) - kBeforeKillS);
  command.insert(command.end(),
                 {"-n", std::to_string(options.num_ranks), options.libexec_dir / "stencil_worker", std::to_string(options.rows),
                  std::to_string(options.columns), std::to_string(options.num_sweeps), std::to_string(options.num_samples),
                  std::to_string(limit_s), options.barrier.empty() ? "messages" : options.barrier});
  return command;
}

void measure_launch(const StencilOptions& options, int repetition, Variant& variant) {
  const std::chrono::milliseconds timeout(static_cast<long>(1000 * options.timeout_s));
  const ChildResult result = run_child(launch_command(options, variant.place), {}, timeout);
  // Libraries may have written something before the answer.
  const std::size_t begin = result.output.find('{');
  const json answer = json::parse(begin == std::string::npos ? "" : result.output.substr(begin), nullptr, false);
  if (answer.is_discarded() || !answer.contains("correct")) {
    variant.failure = result.failure.empty() ? "the program's answer cannot be read" : result.failure;
    fmt::print(stderr, "stencil_bench: {}: {}\n{}", variant.place, variant.failure, result.errors);
    return;
  }
  variant.last_answer = answer;
  if (!answer["correct"]) {
    variant.failure = fmt::format("the result is wrong: it deviates by {}", answer["deviation"].get<double>());
    fmt::print(stderr, "stencil_bench: {}: {}\n", variant.place, variant.failure);
    return;
  }
  variant.us_per_sweep[repetition] = answer["us_per_sweep"].get<std::vector<double>>();
}

std::string header_text(const StencilOptions& options) {
  return host_text(describe_host()) + fmt::format("bench      revision {}\n", kRevision) +
         fmt::format("stencil    {} x {} points, {} a sample, {} of each launch, {}\n", options.rows, options.columns,
                     counted(options.num_sweeps, "sweep"), counted(options.num_samples, "sample"),
                     counted(options.num_repetitions, "repetition")) +
         fmt::format("placed     {}, {} each; mpiexec -bind-to {}, OMP_PLACES={}, KMP_BARRIER=hier\n",
                     counted(options.num_ranks, "rank"), counted(options.num_threads, "thread"), options.bind_to,
                     options.places) +
         fmt::format("ranks      {}\n\n",
                     options.barrier.empty() ? "exchange messages" : "share memory, --barrier " + options.barrier);
}

std::string row_text(const Variant& variant) {
  const auto summary = summarize(pooled(variant.us_per_sweep));
  if (!summary) return fmt::format("  {:<18}{}\n", variant.place, variant.failure);
  return fmt::format("  {:<18}{:>10.1f}  {:>10.1f} .. {:<10.1f}{:>6}{:>16}\n", variant.place, summary->median,
                     summary->lower_quartile, summary->upper_quartile, variant.last_answer["cpus"].get<int>(),
                     variant.last_answer["most_threads_on_one_cpu"].get<int>());
}

std::string table_text(const std::array<Variant, 2>& variants, const Disturbance& disturbance) {
  std::string text =
      fmt::format("  {:<18}{:>10}  {:^24}{:>6}{:>16}\n", "HIERBAR_PLACE", "us/sweep", "quartiles", "cpus", "bound to one");
  for (const Variant& variant : variants) text += row_text(variant);
  if (const auto ratio = ratio_of_medians(variants[0].us_per_sweep, variants[1].us_per_sweep)) {
    text += fmt::format("  {:<18}{:>10}  {:^24}\n", "off / auto", is_clear(*ratio) ? ratio_text(ratio->value) : "unclear",
                        spread_text(*ratio));
  }
  return text + "\ncpus: that any thread may use; bound to one: the most threads that are bound to the same cpu\n" +
         disturbance_text(disturbance) + "\n";
}

json variant_json(const Variant& variant) {
  json samples = json::array();
  for (const auto& [repetition, values] : variant.us_per_sweep) samples.push_back(values);
  return {{"place", variant.place},
          {"us_per_sweep", samples},
          {"last_answer", variant.last_answer},
          {"failure", or_null(variant.failure)}};
}

json report_json(const StencilOptions& options, const std::array<Variant, 2>& variants, const Disturbance& disturbance) {
  json report{{"host", to_json(describe_host())},   {"revision", kRevision},      {"ranks", options.num_ranks},
              {"threads", options.num_threads},     {"rows", options.rows},       {"columns", options.columns},
              {"sweeps", options.num_sweeps},       {"bind_to", options.bind_to}, {"places", options.places},
              {"barrier", or_null(options.barrier)}};
  for (const Variant& variant : variants) report["variants"].push_back(variant_json(variant));
  report["cpu_share_taken"] = disturbance.share();
  const auto ratio = ratio_of_medians(variants[0].us_per_sweep, variants[1].us_per_sweep);
  report["off_over_auto"] = nullptr;
  if (ratio) {
    report["off_over_auto"] = {{"value", ratio->value},
                               {"lowest", ratio->lowest},
                               {"highest", ratio->highest},
                               {"doubt", is_clear(*ratio) ? json() : json("unclear")}};
  }
  return report;
}

int run(const StencilOptions& options) {
  if (options.launcher.empty()) {
    fmt::print(stderr, "stencil_bench: no mpiexec.mpich or mpiexec.hydra in PATH (Debian: mpich)\n");
    return kUsage;
  }
  if (!options.barrier.empty() && options.shim.empty()) {
    fmt::print(stderr, "stencil_bench: --barrier {}: no libhierbar_mpi.so in {} or above it (--lib-dir)\n", options.barrier,
               options.lib_dir.string());
    return kUsage;
  }
  JsonOutput output(options.json_path);
  const bool table = options.json_path != "-";
  if (table) fmt::print("{}", header_text(options));
  std::fflush(stdout);
  const LoadMeter meter;
  std::array<Variant, 2> variants{{{"off", {}, {}, ""}, {"auto", {}, {}, ""}}};
  for (int repetition = 0; repetition < options.num_repetitions; ++repetition) {
    // The two take turns at being the first.
    for (std::size_t turn = 0; turn < 2; ++turn) measure_launch(options, repetition, variants[(turn + repetition) % 2]);
  }
  const Disturbance disturbance = meter.since_start();
  if (table) fmt::print("{}", table_text(variants, disturbance));
  output.write(report_json(options, variants, disturbance));
  return std::all_of(variants.begin(), variants.end(), [](const Variant& variant) { return variant.failure.empty(); }) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run_driver<StencilOptions>("stencil_bench", argc, argv, parse_options, run); }
