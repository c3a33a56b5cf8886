// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace hierbar::bench {

struct OmpWorkerSettings {
  std::string construct;
  int num_threads = 1;
  double budget_ns = 0;
  double delay_ns = 0;
};

// Nothing for wrong arguments.
inline std::optional<OmpWorkerSettings> parse_settings(int argc, char** argv) {
  OmpWorkerSettings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const char* const value = argv[i + 1];
    if (option == "--construct")
      settings.construct = value;
    else if (option == "--threads")
      settings.num_threads = std::atoi(value);
    else if (option == "--budget-ms")
      settings.budget_ns = std::atof(value) * 1e6;
    else if (option == "--delay-ns")
      settings.delay_ns = std::atof(value);
    else
      return std::nullopt;
  }
  if (argc <= 1 || argc % 2 == 0 || settings.num_threads <= 0 || settings.budget_ns <= 0) return std::nullopt;
  return settings;
}

}  // namespace hierbar::bench
