// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// `hierbar doctor`: says which OpenMP and MPI libraries a program gets, and what keeps it from
// these barriers. `program` is what follows "--". Both arguments must live as long as the command.
void add_doctor_command(CLI::App& app, const Program& program);

}  // namespace hierbar
