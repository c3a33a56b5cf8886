// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar topo`: shows the machine as the barriers see it.
void add_topo_command(CLI::App& app);

}  // namespace hierbar
