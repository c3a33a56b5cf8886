// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar variables`: lists the environment variables.
void add_variables_command(CLI::App& app);

}  // namespace hierbar
