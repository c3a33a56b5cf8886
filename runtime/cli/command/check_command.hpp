// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// The exit codes of `hierbar check`.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFindings = 1;
inline constexpr int kExitCouldNotCheck = 2;

// `hierbar check`: checks how ranks and threads are bound, before a program is
// started. `program` is what follows "--". Both arguments must live as long as the command.
void add_check_command(CLI::App& app, const Program& program);

}  // namespace hierbar
