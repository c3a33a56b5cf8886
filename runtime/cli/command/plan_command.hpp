// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar plan`: shows who waits for whom, in the paper's groups and in the engine's plan.
void add_plan_command(CLI::App& app);

}  // namespace hierbar
