// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// `hierbar advise`: nodes, ranks, threads and bindings for a job, as lines ready to run. `program`
// must live as long as the command.
void add_advise_command(CLI::App& app, const Program& program);

}  // namespace hierbar
