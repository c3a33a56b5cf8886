// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/meeting_option.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.hpp"
#include "cli/option/option_values.hpp"
#include "cli/option/typical_option.hpp"
#include "plan/export/plan_text.hpp"

namespace hierbar {
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
  if (!round.receive_from.empty()) text += (text.empty() ? "" : " ") + ("from {" + list(round.receive_from) + "}");
  return text;
}

}  // namespace

void add_meeting_options(CLI::App& command, MeetingOptions& options) {
  CLI::Option* nodes = command.add_option(kNodesOption, options.num_nodes,
                                          "Spread the participants over so many nodes like this one, and show how the\nnodes' "
                                          "leaders meet: 2 to " +
                                              std::to_string(network::kMostChosenNodes));
  nodes->type_name("N");
  command
      .add_option(kMeetingOption, options.meeting,
                  std::string("By which schedule the leaders meet: auto (the best by the model), or\n") + network::kAllowedKinds)
      ->type_name("HOW")
      ->needs(nodes);
  for (CLI::Option* option : add_network_options(command, options.network)) option->needs(nodes);
}

std::optional<NodesMeeting> choose_meeting(const CLI::App& command, const MeetingOptions& options) {
  if (command.count(kNodesOption) == 0) return std::nullopt;
  const std::uint32_t num_nodes = parse_count(options.num_nodes, network::kMostChosenNodes);
  if (num_nodes < 2) {
    refuse(kNodesOption, options.num_nodes, "no such number of nodes", "2 to " + std::to_string(network::kMostChosenNodes));
  }
  std::vector<network::Kind> kinds = network::candidates(num_nodes);
  if (command.count(kMeetingOption) > 0 && lower_word(options.meeting) != "auto") {
    kinds = {accept(network::parse_kind(options.meeting), kMeetingOption, options.meeting,
                    std::string("auto, ") + network::kAllowedKinds)};
  }
  const NetworkCosts costs = read_network_costs(command, options.network)
                                 .value_or(NetworkCosts{network::kAssumedParameters,
                                                        "assumed, because nothing was measured: Ethernet with TCP", nullptr});
  return NodesMeeting{num_nodes, network::choose(kinds, num_nodes, {costs.parameters, {}}).front(), costs};
}

std::string nodes_text(std::uint32_t num_nodes, std::uint32_t most_on_a_node) {
  return std::to_string(num_nodes) + " nodes, at most " + std::to_string(most_on_a_node) + " on each";
}

void print_meeting(const NodesMeeting& meeting, const hierbar_plan& plan) {
  const auto rounds_of = [&](std::uint32_t leader) { return network::rounds(meeting.chosen.kind, leader, meeting.num_nodes); };
  std::printf("\nmeeting of %u leaders: %s, %llu messages, %.2f us by the model\n", meeting.num_nodes,
              name_of(meeting.chosen.kind).c_str(), static_cast<unsigned long long>(meeting.chosen.num_messages),
              meeting.chosen.evaluated_us);
  std::printf("  costs    %s; %s\n  rounds\n", describe(meeting.costs.parameters).c_str(), meeting.costs.source.c_str());
  for (std::uint32_t leader = 0; leader < std::min(meeting.num_nodes, kMostLeadersShown); ++leader) {
    std::string text;
    for (const network::Round& round : rounds_of(leader)) text += (text.empty() ? "" : "; ") + describe(round);
    std::printf("    %-4u %s\n", leader, text.c_str());
  }
  if (meeting.num_nodes > kMostLeadersShown) std::printf("    ... %u more leaders\n", meeting.num_nodes - kMostLeadersShown);
  // Participant 0 gathers from the other leaders of its node, and releases them.
  const std::uint32_t num_levels = num_gather_levels(plan) + (plan.num_leaders > 1 ? 1 : 0);
  std::printf("whole barrier: %u line transfers to the node's leader, %.2f us between nodes, %u line transfers back\n",
              num_levels, meeting.chosen.evaluated_us, num_levels);
  std::printf("%s", typical_note(meeting.costs.typical).c_str());
}

nlohmann::ordered_json to_json(const NodesMeeting& meeting) {
  nlohmann::ordered_json leaders = nlohmann::ordered_json::array();
  for (std::uint32_t leader = 0; leader < meeting.num_nodes; ++leader) {
    nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
    for (const network::Round& round : network::rounds(meeting.chosen.kind, leader, meeting.num_nodes)) {
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
