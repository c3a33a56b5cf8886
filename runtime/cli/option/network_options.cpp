// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/network_options.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"
#include "network/network_profile.hpp"
#include "plan/plan_text.hpp"

namespace hierbar {
namespace {

constexpr const char* kList = "list";

void print_origin(const network::Origin& origin) {
  std::cout << "  " << origin.number << "\n    published  " << origin.published
            << "\n    by         " << origin.source << "\n    so         " << origin.derivation
            << '\n';
}

void print_typical_networks() {
  std::cout << "Typical networks, from published measurements. Yours may differ; 'hierbar tune "
               "--between-nodes' measures it.\n";
  for (const network::TypicalNetwork& one : network::typical_networks()) {
    std::cout << '\n'
              << one.name << "\n  " << one.description << "\n  " << describe(one.parameters)
              << '\n';
    for (const network::Origin& origin : one.origins) print_origin(origin);
  }
  std::cout << "\nInside a node of each of them\n";
  print_origin(network::origin_inside_a_node());
}

}  // namespace

CLI::Option* add_network_option(CLI::App& command, std::string& text) {
  return command
      .add_option_function<std::string>(
          kNetworkOption,
          [&text](const std::string& value) {
            text = value;
            if (value != kList) return;
            print_typical_networks();
            throw CLI::Success();
          },
          "What messages between nodes cost, and the channels that they share: a file that\n"
          "'hierbar tune --between-nodes' has written; default: HIERBAR_NETWORK, else network.json "
          "in\n"
          "$XDG_CONFIG_HOME/hierbar or ~/.config/hierbar.\n"
          "Or a typical network, by its name: " +
              network::typical_names() + ";\n" + kList +
              " prints the sources of their figures. A name takes precedence over a file; ./NAME "
              "is the file")
      ->trigger_on_parse()  // "list" is an answer by itself, without the options that the command
                            // requires
      ->type_name("FILE|NAME");
}

const network::TypicalNetwork* find_typical(const std::string& text) {
  if (const network::TypicalNetwork* found = network::find_typical_network(text)) return found;
  std::error_code ignored;
  if (text.find('/') != std::string::npos || std::filesystem::exists(text, ignored)) return nullptr;
  const std::string nearest = network::nearest_typical_names(text);
  refuse(kNetworkOption, text,
         "there is no typical network and no file of this name" +
             (nearest.empty() ? "" : "; did you mean " + nearest + "?"),
         network::typical_names() + ", " + kList +
             ", or a file that 'hierbar tune --between-nodes' has written");
}

std::string typical_source(const network::TypicalNetwork& network) {
  return std::string("typical ") + network.name + ", not measured here: " + network.description;
}

std::string typical_note(const network::TypicalNetwork* network) {
  if (network == nullptr) return "";
  return std::string("\ntypical, not measured: these are others' published figures for ") +
         network->name +
         ", and bounds derived from them.\n"
         "'hierbar tune --between-nodes --contention' measures your network; 'hierbar meet "
         "--network list' has the sources.\n";
}

nlohmann::ordered_json typical_json(const network::TypicalNetwork* network) {
  return network == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(network->name);
}

namespace {

constexpr const char* kParametersOption = "--parameters";

[[noreturn]] void refuse_network(const std::string& path, const std::string& problem) {
  refuse(kNetworkOption, path, problem,
         "a file of measured networks, a typical network's name, or --parameters instead");
}

// A file may hold several networks; the last one was measured last.
NetworkCosts profile_costs(const network::NetworkProfile& profile) {
  if (profile.networks.empty()) refuse_network(profile.path, "it contains no network");
  const network::MeasuredNetwork& measured = profile.networks.back();
  const std::string transport = measured.transport.empty() ? "" : " (" + measured.transport + ")";
  return {measured.slowest(),
          profile.path + ": " + measured.mpi_library + transport + ", measured on " +
              std::to_string(measured.num_nodes) + " nodes",
          nullptr};
}

}  // namespace

std::array<CLI::Option*, 2> add_network_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* file = add_network_option(command, options.network);
  CLI::Option* costs =
      command.add_option(kParametersOption, options.parameters,
                         std::string("In place of --network: ") + network::kAllowedParameters);
  costs->type_name("LIST")->excludes(file);
  return {file, costs};
}

std::optional<NetworkCosts> read_network_costs(const CLI::App& command,
                                               const NetworkOptions& options) {
  if (command.count(kParametersOption) > 0) {
    return NetworkCosts{accept(network::parse_parameters(options.parameters), kParametersOption,
                               options.parameters, network::kAllowedParameters),
                        kParametersOption, nullptr};
  }
  if (command.count(kNetworkOption) > 0) {
    if (const network::TypicalNetwork* typical = find_typical(options.network)) {
      return NetworkCosts{typical->parameters, typical_source(*typical), typical};
    }
    const Result<network::NetworkProfile> profile = network::load_network_profile(options.network);
    if (!profile) refuse_network(options.network, profile.error());
    return profile_costs(*profile);
  }
  std::vector<std::string> problems;
  const network::NetworkProfile profile =
      network::read_network_profile(own_environment(), problems);
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  if (profile.networks.empty()) return std::nullopt;
  return profile_costs(profile);
}

namespace {

constexpr const char* kMeetingOption = "--meeting";
// More than this are of no use on a screen; --json has all of them.
constexpr std::uint32_t kMostLeadersShown = 16;

std::string list(const std::vector<std::uint32_t>& leaders) {
  std::string text;
  for (std::size_t i = 0; i < leaders.size() && i < kMostLeadersShown; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(leaders[i]);
  }
  return text + (leaders.size() > kMostLeadersShown ? ",..." : "");
}

std::string describe(const network::Round& round) {
  std::string text;
  if (!round.send_to.empty()) text += "to {" + list(round.send_to) + "}";
  if (!round.receive_from.empty())
    text += (text.empty() ? "" : " ") + ("from {" + list(round.receive_from) + "}");
  return text;
}

}  // namespace

void add_meeting_options(CLI::App& command, MeetingOptions& options) {
  CLI::Option* nodes = command.add_option(kNodesOption, options.num_nodes,
                                          "Nodes of the job, all like this one, over which the "
                                          "participants are spread;\nalso shows how "
                                          "the nodes' leaders meet: 2 to " +
                                              std::to_string(network::kMostChosenNodes));
  nodes->type_name("N");
  command
      .add_option(
          kMeetingOption, options.meeting,
          std::string("Schedule by which the leaders meet: auto (the best by the model), or\n") +
              network::kAllowedKinds)
      ->type_name("HOW")
      ->needs(nodes);
  for (CLI::Option* option : add_network_options(command, options.network)) option->needs(nodes);
}

std::optional<NodesMeeting> choose_meeting(const CLI::App& command, const MeetingOptions& options) {
  if (command.count(kNodesOption) == 0) return std::nullopt;
  const std::uint32_t num_nodes = parse_count(options.num_nodes, network::kMostChosenNodes);
  if (num_nodes < 2) {
    refuse(kNodesOption, options.num_nodes, "no such number of nodes",
           "2 to " + std::to_string(network::kMostChosenNodes));
  }
  std::vector<network::Kind> kinds = network::candidates(num_nodes);
  if (command.count(kMeetingOption) > 0 && lower_word(options.meeting) != "auto") {
    kinds = {accept(network::parse_kind(options.meeting), kMeetingOption, options.meeting,
                    std::string("auto, ") + network::kAllowedKinds)};
  }
  const NetworkCosts costs =
      read_network_costs(command, options.network)
          .value_or(NetworkCosts{network::kAssumedParameters,
                                 "assumed, because nothing was measured: Ethernet with TCP",
                                 nullptr});
  return NodesMeeting{num_nodes, network::choose(kinds, num_nodes, {costs.parameters, {}}).front(),
                      costs};
}

std::string nodes_text(std::uint32_t num_nodes, std::uint32_t most_on_a_node) {
  return std::to_string(num_nodes) + " nodes, at most " + std::to_string(most_on_a_node) +
         " on each";
}

void print_meeting(const NodesMeeting& meeting, const hierbar_plan& plan) {
  const auto rounds_of = [&](std::uint32_t leader) {
    return network::rounds(meeting.chosen.kind, leader, meeting.num_nodes);
  };
  std::printf("\nmeeting of %u leaders: %s, %llu messages, %.2f us by the model\n",
              meeting.num_nodes, name_of(meeting.chosen.kind).c_str(),
              static_cast<unsigned long long>(meeting.chosen.num_messages),
              meeting.chosen.evaluated_us);
  std::printf("  costs    %s; %s\n  rounds\n", describe(meeting.costs.parameters).c_str(),
              meeting.costs.source.c_str());
  for (std::uint32_t leader = 0; leader < std::min(meeting.num_nodes, kMostLeadersShown);
       ++leader) {
    std::string text;
    for (const network::Round& round : rounds_of(leader))
      text += (text.empty() ? "" : "; ") + describe(round);
    std::printf("    %-4u %s\n", leader, text.c_str());
  }
  if (meeting.num_nodes > kMostLeadersShown)
    std::printf("    ... %u more leaders\n", meeting.num_nodes - kMostLeadersShown);
  // Participant 0 gathers from the other leaders of its node, and releases them.
  const std::uint32_t num_levels = num_gather_levels(plan) + (plan.num_leaders > 1 ? 1 : 0);
  std::printf(
      "whole barrier: %u line transfers to the node's leader, %.2f us between nodes, %u line "
      "transfers back\n",
      num_levels, meeting.chosen.evaluated_us, num_levels);
  std::printf("%s", typical_note(meeting.costs.typical).c_str());
}

nlohmann::ordered_json to_json(const NodesMeeting& meeting) {
  nlohmann::ordered_json leaders = nlohmann::ordered_json::array();
  for (std::uint32_t leader = 0; leader < meeting.num_nodes; ++leader) {
    nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
    for (const network::Round& round :
         network::rounds(meeting.chosen.kind, leader, meeting.num_nodes)) {
      rounds.push_back({{"send_to", round.send_to}, {"receive_from", round.receive_from}});
    }
    leaders.push_back(std::move(rounds));
  }
  return {{"num_nodes", meeting.num_nodes},
          {"name", name_of(meeting.chosen.kind)},
          {"num_messages", meeting.chosen.num_messages},
          {"model_us", meeting.chosen.evaluated_us},
          {"costs", describe(meeting.costs.parameters)},
          {"source", meeting.costs.source},
          {"typical", typical_json(meeting.costs.typical)},
          {"leaders", std::move(leaders)}};
}

}  // namespace hierbar
