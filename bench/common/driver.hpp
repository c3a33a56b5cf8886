// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include "bench/common/host.hpp"

namespace hierbar::bench {

// Exit status: wrong arguments, or nothing can be measured.
inline constexpr int kUsage = 2;

// The main function of a driver. `parse(argc, argv, options)` returns the exit status where there
// is nothing to run. A problem that `run(options)` throws becomes one line.
template <class Options, class Parse, class Run>
int run_driver(const char* name, int argc, char** argv, Parse parse, Run run) {
  Options options;
  if (const auto status = parse(argc, argv, options)) return *status;
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kUsage;
  }
}

// Prints what would be measured, unless the tables are left out. Returns the exit status if that is
// all that there is to do.
template <class Options, class Configurations>
std::optional<int> show_configurations(const char* name, const Options& options, const Host& host,
                                       const Configurations& configurations) {
  if (options.has_tables()) fmt::print("{}", header_text(options, host, configurations));
  std::fflush(stdout);
  if (options.list) return 0;
  const auto is_available = [](const auto& configuration) { return configuration.unavailable.empty(); };
  if (std::any_of(configurations.begin(), configurations.end(), is_available)) return std::nullopt;
  fmt::print(stderr, "{}: none of the configurations can be measured; --list says why\n", name);
  return kUsage;
}

}  // namespace hierbar::bench
