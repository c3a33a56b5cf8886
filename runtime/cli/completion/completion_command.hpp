// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// Adds `hierbar completion`. It describes the commands that `app` has when it runs.
void add_completion_command(CLI::App& app);

}  // namespace hierbar
