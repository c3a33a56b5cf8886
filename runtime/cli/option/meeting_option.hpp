// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/option/network_costs.hpp"
#include "network/choose.hpp"
#include "plan/plan.h"

namespace hierbar {

// --nodes and --meeting: a barrier over several nodes, each of them like the described machine.
struct MeetingOptions {
  std::string num_nodes;
  std::string meeting;
  NetworkOptions network;
};

void add_meeting_options(CLI::App& command, MeetingOptions& options);

// How the leaders of the nodes meet.
struct NodesMeeting {
  std::uint32_t num_nodes;
  network::Ranked chosen;
  NetworkCosts costs;
};

// Empty without --nodes. A bad option ends the command.
std::optional<NodesMeeting> choose_meeting(const CLI::App& command, const MeetingOptions& options);

// "16 nodes, at most 17 on each"
std::string nodes_text(std::uint32_t num_nodes, std::uint32_t most_on_a_node);
// `plan`: a node's.
void print_meeting(const NodesMeeting& meeting, const hierbar_plan& plan);
nlohmann::ordered_json to_json(const NodesMeeting& meeting);

}  // namespace hierbar
