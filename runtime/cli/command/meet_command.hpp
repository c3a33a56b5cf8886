// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar meet`: what each way for the leaders of nodes to meet would cost.
void add_meet_command(CLI::App& app);

}  // namespace hierbar
