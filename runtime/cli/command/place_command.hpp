// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar place`: divides a node among ranks, and prints the options for launchers and OpenMP.
void add_place_command(CLI::App& app);

}  // namespace hierbar
