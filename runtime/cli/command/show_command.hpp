// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// `hierbar show`: shows where the threads of a job run, or would run. `program` is what follows
// "--". Both arguments must live as long as the command.
void add_show_command(CLI::App& app, const Program& program);

}  // namespace hierbar
