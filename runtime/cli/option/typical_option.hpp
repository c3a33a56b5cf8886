// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "network/typical/typical_network.hpp"

namespace hierbar {

inline constexpr const char* kNetworkOption = "--network";

// --network, which takes a typical network's name, the path of a file, or "list", which prints all
// typical networks and ends the command. A name wins over a file that is called the same; "./NAME"
// is the file.
CLI::Option* add_network_option(CLI::App& command, const std::string& names, std::string& text, const std::string& file_help);

// The typical network of this name; null if the text is a path. Text that is no name, has no slash
// and names no file ends the command with the names that are like it.
const network::TypicalNetwork* find_typical(const std::string& text);

// "typical infiniband-hdr, not measured here: ...": where costs are from.
std::string typical_source(const network::TypicalNetwork& network);

// What is printed under everything that was reckoned from a typical network; empty for null.
std::string typical_note(const network::TypicalNetwork* network);

// Its name, null for null.
nlohmann::ordered_json typical_json(const network::TypicalNetwork* network);

}  // namespace hierbar
