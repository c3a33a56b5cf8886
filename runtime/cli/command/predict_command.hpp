// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

namespace hierbar {

// `hierbar predict`: what messages will cost for every split of ranks over nodes.
void add_predict_command(CLI::App& app);

}  // namespace hierbar
