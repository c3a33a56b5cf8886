// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "topology/machine.hpp"

namespace hierbar {

// The exit code of `hierbar` for bad options and bad input.
inline constexpr int kExitBadInput = 2;

inline constexpr const char* kTopologyOption = "--topology";

// Adds --topology to a subcommand. `description` must live as long as the command.
void add_machine_option(CLI::App& command, std::string& description);

// The machine that --topology describes. Without --topology, the machine that HIERBAR_TOPOLOGY
// describes. Warnings go to stderr. If HIERBAR_TOPOLOGY is bad, the live machine is used, as in
// programs. If --topology is bad, a message goes to stderr, and CLI::RuntimeError with
// kExitBadInput is thrown.
Machine load_chosen_machine(const CLI::App& command, const std::string& description);

}  // namespace hierbar
