// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// `hierbar tune`: measures this machine and writes the profile that plans use. With --network it
// measures messages between nodes. `program` is what stands behind "--".
void add_tune_command(CLI::App& app, const Program& program);

}  // namespace hierbar
