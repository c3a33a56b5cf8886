// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/network_options.hpp"
#include "network/choose.hpp"

namespace hierbar {
namespace {

using network::Ranked;
using nlohmann::ordered_json;

constexpr const char* kMeetingsOption = "--meetings";
constexpr std::size_t kMostNodeCounts = 256;

struct MeetOptions {
  std::string num_nodes;
  NetworkOptions network;
  std::string meetings;
  bool json = false;
};

std::vector<std::uint32_t> read_sizes(const MeetOptions& options) {
  std::vector<std::uint32_t> sizes;
  for (const std::string& word : lower_words(options.num_nodes, ',')) {
    sizes.push_back(parse_count(word, network::kMostChosenNodes));
    if (sizes.back() < 2) {
      refuse(kNodesOption, options.num_nodes, "'" + word + "' is not a valid number of nodes",
             "a comma list of 2 to " + std::to_string(network::kMostChosenNodes));
    }
  }
  if (sizes.size() > kMostNodeCounts)
    refuse(kNodesOption, options.num_nodes, "too many numbers",
           "up to " + std::to_string(kMostNodeCounts));
  return sizes;
}

void print_table(std::uint32_t size, const std::vector<Ranked>& ranked) {
  std::printf("\n%u nodes\n  %-20s %12s %12s %10s\n", size, "meeting", "formula, us", "model, us",
              "messages");
  for (const Ranked& one : ranked) {
    std::printf("%c %-20s %s %12.2f %10llu\n", &one == &ranked.front() ? '>' : ' ',
                name_of(one.kind).c_str(),
                one.formula_us ? format_text("%12.2f", *one.formula_us).c_str() : "           -",
                one.evaluated_us, static_cast<unsigned long long>(one.num_messages));
  }
}

ordered_json ranking_as_json(std::uint32_t size, const std::vector<Ranked>& ranked) {
  ordered_json meetings = ordered_json::array();
  for (const Ranked& one : ranked) {
    meetings.push_back(
        {{"name", name_of(one.kind)},
         {"formula_us", one.formula_us ? ordered_json(*one.formula_us) : ordered_json()},
         {"model_us", one.evaluated_us},
         {"num_messages", one.num_messages}});
  }
  return {{"num_nodes", size},
          {"choice", name_of(ranked.front().kind)},
          {"meetings", std::move(meetings)}};
}

void show(const CLI::App& command, const MeetOptions& options) {
  const std::vector<std::uint32_t> sizes = read_sizes(options);
  const std::optional<NetworkCosts> known = read_network_costs(command, options.network);
  if (!known) {
    std::cerr << "hierbar meet: no costs of a network are known; give --network (FILE, or the NAME "
                 "of a typical network; 'list' shows them) or --parameters\n";
    throw CLI::RuntimeError(kExitBadInput);
  }
  const NetworkCosts& costs = *known;
  std::vector<network::Kind> kinds;
  if (command.count(kMeetingsOption) > 0) {
    kinds = accept(network::parse_kinds(options.meetings), kMeetingsOption, options.meetings,
                   std::string("a comma list of ") + network::kAllowedKinds);
  }
  ordered_json tables = ordered_json::array();
  if (!options.json)
    std::cout << describe(costs.parameters) << "; from " << costs.source << std::endl;
  for (const std::uint32_t size : sizes) {
    const std::vector<Ranked> ranked = network::choose(
        kinds.empty() ? network::candidates(size) : kinds, size, {costs.parameters, {}});
    if (options.json) {
      tables.push_back(ranking_as_json(size, ranked));
    } else {
      print_table(size, ranked);
    }
  }
  if (!options.json) {
    std::cout << typical_note(costs.typical);
    return;
  }
  const network::Parameters& used = costs.parameters;
  const ordered_json json{{"L_us", used.latency_us},
                          {"o_s_us", used.send_overhead_us},
                          {"o_r_us", used.receive_overhead_us},
                          {"g_us", used.gap_us},
                          {"G_us_per_byte", used.gap_per_byte_us},
                          {"source", costs.source},
                          {"typical", typical_json(costs.typical)},
                          {"sizes", std::move(tables)}};
  std::cout << json.dump(2) << '\n';
}

}  // namespace

void add_meet_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "meet", "Compare the barrier algorithms between nodes, and show which one is chosen");
  auto options = std::make_shared<MeetOptions>();
  command
      ->add_option(
          kNodesOption, options->num_nodes,
          "Nodes of the job: a comma list of 2 to " + std::to_string(network::kMostChosenNodes))
      ->required()
      ->type_name("LIST");
  add_network_options(*command, options->network);
  command
      ->add_option(
          kMeetingsOption, options->meetings,
          std::string("Schedules to choose among: a comma list of\n") + network::kAllowedKinds)
      ->type_name("LIST");
  refuse_name(*command, "-n", kNodesOption);
  refuse_name(*command, "--algorithms", kMeetingsOption);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "All times are in microseconds, from the last entry to the last exit.\n"
      "  formula  of V. Zharikov and A. Paznikov, 2019 (LogP), with real logarithms; - if there is "
      "none\n"
      "  model    the exact time of the schedule in the LogGP model. It decides the best schedule, "
      "marked with >;\n"
      "           among equals, the one with fewer messages\n"
      "  L        without the overheads: RTT / 2 - o_s - o_r\n"
      "\n"
      "Examples:\n"
      "  hierbar meet --nodes 64\n"
      "  hierbar meet --nodes 2,4,8,16,32,64,100 --parameters L=125.6,o_s=0.43,o_r=123.8,g=0.22\n"
      "  hierbar meet --nodes 16 --network infiniband-hdr\n"
      "  hierbar meet --nodes 64 --network network.json --meetings linear,bruck,dissemination:7 "
      "--json\n");
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
