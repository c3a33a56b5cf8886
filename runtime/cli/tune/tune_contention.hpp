// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cli/program/program.hpp"
#include "cli/tune/tune_session.hpp"
#include "network/contention/contention_table.hpp"

namespace hierbar {

// `hierbar tune --network --contention`: measures what shared channels cost, with the worker behind
// the user's launcher line. What goes wrong ends the command.
network::Contention measure_contention(const TuneOptions& options, const Program& launcher);

// Prints t(m, cf) and the slowdown of each cell; marked are cells that are more than cf times
// slower.
void print(const network::Contention& contention);

}  // namespace hierbar
