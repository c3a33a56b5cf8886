// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/program/program.hpp"
#include "cli/tune/tune_session.hpp"

namespace hierbar {

// `hierbar tune --network -- LAUNCHER...`: has the launcher start the worker of its MPI family, and
// puts what it measures into the file of networks. Ends the command if that is not possible.
void measure_network(const CLI::App& command, const TuneOptions& options, const Program& launcher);

// The user's launcher line, and behind it the worker of that name for the launcher's MPI library.
// What is missing ends the command.
Program worker_command(const Program& launcher, const TuneOptions& options, const std::string& name,
                       const std::vector<std::string>& arguments);

}  // namespace hierbar
