// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "network/choose.hpp"
#include "network/parameters.hpp"
#include "network/typical_network.hpp"
#include "plan/plan.h"

namespace hierbar {

inline constexpr const char* kNetworkOption = "--network";

// --network, which takes a typical network's name, the path of a file, or "list", which prints all
// typical networks and ends the command. A name wins over a file that is called the same; "./NAME"
// is the file.
CLI::Option* add_network_option(CLI::App& command, std::string& text);

// The typical network of this name; null if the text is a path. Text that is no name, has no slash
// and names no file ends the command with the names that are like it.
const network::TypicalNetwork* find_typical(const std::string& text);

// "typical infiniband-hdr, not measured here: ...": where costs are from.
std::string typical_source(const network::TypicalNetwork& network);

// What is printed under everything that was reckoned from a typical network; empty for null.
std::string typical_note(const network::TypicalNetwork* network);

// Its name, null for null.
nlohmann::ordered_json typical_json(const network::TypicalNetwork* network);

// --network and --parameters: what messages between nodes cost.
struct NetworkOptions {
  std::string network;
  std::string parameters;
};

// Returns the two.
std::array<CLI::Option*, 2> add_network_options(CLI::App& command, NetworkOptions& options);

// The costs, and where they are from.
struct NetworkCosts {
  network::Parameters parameters;
  std::string source;
  const network::TypicalNetwork* typical = nullptr;  // if they are of one
};

// Those of the options, otherwise of the file that programs read; empty if there is none. A bad
// option ends the command.
std::optional<NetworkCosts> read_network_costs(const CLI::App& command,
                                               const NetworkOptions& options);

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
