// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/common/host.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/host/host.hpp"
#include "topology/load.hpp"
#include "tune/tune_report.hpp"

namespace hierbar::bench::model {
namespace {

constexpr double kWithinPercent = 25;

struct HostOptions {
  std::string profile_path;
  std::vector<std::uint32_t> cpus;
  int num_rounds = 10;
  std::string json_path;
  bool check = false;
};

NearestPair pair_of_profile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Refusal(fmt::format("--profile: '{}': {}", path, std::strerror(errno)));
  const nlohmann::json profile = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  std::optional<NearestPair> pair;
  if (!profile.is_discarded()) pair = nearest_pair(profile);
  if (!pair || !(pair->one_way.best_ns() > 0)) {
    throw Refusal(fmt::format(
        "--profile: '{}': no latencies between two cores in it; allowed: what 'hierbar tune' wrote",
        path));
  }
  return *pair;
}

// The nearest two allowed cpus of different cores.
CpuPair nearest_cpus() {
  const Machine machine = require(load_live_machine());
  for (const PairClass& pair_class : sample_pairs(machine, 1)) {
    if (pair_class.name != level_name(Level::kCore)) return pair_class.pairs.front();
  }
  throw Refusal("host: two cores are needed, and this process may use one only");
}

CpuPair chosen_cpus(const HostOptions& options) {
  if (options.cpus.empty()) return nearest_cpus();
  const Machine machine = require(load_live_machine());
  for (const std::uint32_t cpu : options.cpus) {
    if (options.cpus.size() != 2 || options.cpus[0] == options.cpus[1] ||
        !machine.allowed.test(cpu)) {
      throw Refusal("--cpus: two different cpus of " + machine.allowed.to_string() + " are needed");
    }
  }
  return {options.cpus[0], options.cpus[1]};
}

bool within(const HostRow& row) { return std::abs(row.error_percent.median) <= kWithinPercent; }

std::string report_text(const HostReport& report) {
  std::string text = fmt::format(
      "cpus {} and {}: one way {:.1f} ns ({:.1f} .. {:.1f}), pause {:.1f} ns, polls {:.1f} ns "
      "apart\n\n"
      "{:<18}{:>12}{:>12}{:>20}{:>10}{:>12}\n",
      report.cpus.first, report.cpus.second, report.one_way_ns.median, report.one_way_ns.lower,
      report.one_way_ns.upper, report.pause_ns, report.poll_spacing_ns, "ns per barrier",
      "predicted", "measured", "quartiles", "error %", "transfers");
  for (std::size_t i = 0; i < kHostCases.size(); ++i) {
    const HostRow& row = report.rows[i];
    text += fmt::format(
        "{:<18}{:>12.1f}{:>12.1f}{:>20}{:>+10.1f}{:>12.2f}{}\n", kHostCases[i].name,
        row.predicted.period_ns, row.measured_ns.median,
        fmt::format("{:.1f} .. {:.1f}", row.measured_ns.lower, row.measured_ns.upper),
        row.error_percent.median, row.predicted.num_transfers, within(row) ? "" : "  MISSED");
  }
  return text;
}

nlohmann::ordered_json quartiles_json(const Quartiles& quartiles) {
  return {{"lower", quartiles.lower}, {"median", quartiles.median}, {"upper", quartiles.upper}};
}

nlohmann::ordered_json report_json(const HostReport& report) {
  nlohmann::ordered_json json{{"format", "hierbar-model-host-1"},
                              {"revision", kRevision},
                              {"cpus", {report.cpus.first, report.cpus.second}},
                              {"one_way_ns", quartiles_json(report.one_way_ns)},
                              {"pause_ns", report.pause_ns},
                              {"poll_spacing_ns", report.poll_spacing_ns},
                              {"target_percent", kWithinPercent},
                              {"barriers", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < kHostCases.size(); ++i) {
    const HostRow& row = report.rows[i];
    json["barriers"].push_back({{"name", kHostCases[i].name},
                                {"predicted_ns", row.predicted.period_ns},
                                {"transfers", row.predicted.num_transfers},
                                {"measured_ns", quartiles_json(row.measured_ns)},
                                {"error_percent", quartiles_json(row.error_percent)},
                                {"within_target", within(row)}});
  }
  return json;
}

int show_host(const HostOptions& options) {
  JsonOutput json(options.json_path);
  std::optional<KnownPair> known;
  CpuPair cpus;
  if (!options.profile_path.empty()) {
    const NearestPair pair = pair_of_profile(options.profile_path);
    known = KnownPair{pair.one_way.best_ns(), pair.pause_ns};
    cpus = pair.cpus;
  } else {
    cpus = chosen_cpus(options);
  }
  const HostReport report =
      require(compare_on_host(cpus, known ? &*known : nullptr, options.num_rounds));
  if (options.json_path != "-") fmt::print("{}", report_text(report));
  json.write(report_json(report));
  return options.check && !std::all_of(report.rows.begin(), report.rows.end(), within) ? 1 : 0;
}

constexpr const char* kHostFooter =
    "The barriers' own code runs on two simulated cores that look at the awaited word as often "
    "as threads do. What these\n"
    "cost is the length of a pause and the one-way time of one word that two threads write in "
    "turn and poll, with pauses\n"
    "or without, whichever is faster. Such a passage is two transactions: fetch a copy, take the "
    "other's copy away.\n"
    "\n"
    "  exchange         both threads' words in one line\n"
    "  central counter  with a sense, sense-reversing\n"
    "  gather/release   one thread gathers and releases the other\n"
    "  transfers        transactions of one barrier in the model: two, three and four where the "
    "cpus are far apart. Where a\n"
    "                   transaction is shorter than the pauses, an exchange has three: as the "
    "loops do nothing between two\n"
    "                   barriers they fall into step, and looks meet arrivals instead of coming "
    "a pause too late\n"
    "\n"
    "Periods are back to back. Errors are medians over the rounds, each against its own "
    "ping-pong. Leave the machine alone.\n"
    "\n"
    "Examples:\n"
    "  barrier_model host --check\n"
    "  hierbar tune --output node17.json && barrier_model host --profile node17.json --json "
    "host.json\n";

}  // namespace

void add_host_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "host", "Barriers of two threads on this machine: predicted from ping-pong, and measured");
  auto options = std::make_shared<HostOptions>();
  CLI::Option* profile =
      command
          ->add_option("--profile", options->profile_path,
                       "Take the one-way time from what 'hierbar tune' wrote, in place of "
                       "measuring it in turns with\n"
                       "the barriers; worse where cpus move, as a virtual machine's do")
          ->type_name("FILE");
  command
      ->add_option("--cpus", options->cpus, "Two cpus; default: the nearest two of different cores")
      ->delimiter(',')
      ->expected(2)
      ->type_name("A,B")
      ->excludes(profile);
  command->add_option("--rounds", options->num_rounds, "Rounds of ping-pong and all barriers")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--json", options->json_path,
                   "Write everything to FILE; `-`, or nothing: to stdout in place of the table")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE");
  command->add_flag("--check", options->check,
                    "Judge the figures: return 1 when an error is above 25 %");
  command->footer(kHostFooter);
  command->callback([options, &status] { status = show_host(*options); });
}

}  // namespace hierbar::bench::model
