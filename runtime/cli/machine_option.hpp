// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "topology/machine.hpp"

namespace hierbar {

// What `hierbar` returns for bad options and bad input.
inline constexpr int kExitBadInput = 2;

inline constexpr const char* kTopologyOption = "--topology";

// Adds --topology to a subcommand. `description` must live as long as the command.
void add_machine_option(CLI::App& command, std::string& description);

// The machine that --topology names or, when that was not given, that HIERBAR_TOPOLOGY asks for. Warnings go to stderr. A broken
// HIERBAR_TOPOLOGY means the live machine, as in programs; a broken --topology is told on stderr and ends the command with
// kExitBadInput, by throwing CLI::RuntimeError.
Machine load_chosen_machine(const CLI::App& command, const std::string& description);

}  // namespace hierbar
