// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// `hierbar run`: starts a program, or a launcher with a program, with hierbar's barriers. `program`
// is what follows "--". Both arguments must live as long as the command.
void add_run_command(CLI::App& app, const Program& program);

}  // namespace hierbar
