// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"

namespace hierbar {

// Adds --mpi, whose value is "auto" unless given. `value` must live as long as the command.
void add_mpi_option(CLI::App& command, std::string& value);

// The family that --mpi names; for "auto" that of the program. Ends the command if there is no such
// family.
FamilyGuess chosen_family(const std::string& value, const Program& program);

}  // namespace hierbar
