// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string>

#include "network/parameters.hpp"
#include "network/typical/typical_network.hpp"

namespace hierbar {

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
std::optional<NetworkCosts> read_network_costs(const CLI::App& command, const NetworkOptions& options);

}  // namespace hierbar
