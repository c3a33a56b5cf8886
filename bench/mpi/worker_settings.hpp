// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace hierbar::bench {

struct MpiWorkerSettings {
  double budget_ns = 0;
  unsigned limit_s = 0;
  bool inside = false;
  bool alone = false;
  bool crowded = false;
  bool first = false;
};

// Nothing for wrong arguments.
inline std::optional<MpiWorkerSettings> parse_settings(int argc, char** argv) {
  MpiWorkerSettings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--inside") {
      settings.inside = true;
    } else if (option == "--alone") {
      settings.alone = true;
    } else if (option == "--crowded") {
      settings.crowded = true;
    } else if (option == "--first") {
      settings.first = true;
    } else if (option == "--budget-ms") {
      settings.budget_ns = std::atof(value) * 1e6;
      ++i;
    } else if (option == "--limit-s") {
      settings.limit_s = static_cast<unsigned>(std::max(0, std::atoi(value)));
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (settings.budget_ns <= 0 || settings.limit_s == 0 || settings.alone + settings.crowded + settings.first > 1)
    return std::nullopt;
  return settings;
}

}  // namespace hierbar::bench
