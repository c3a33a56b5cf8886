// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/child_process.hpp"
#include "bench/common/groups.hpp"

namespace hierbar::bench {

// One way to run the measured program. Each kind of runtime derives its own from it.
struct Configuration {
  std::string name;
  std::string explains;
  Family family = Family::kOther;
  std::filesystem::path worker;  // the measured program
  Variables variables;           // what the configuration sets for it
  std::string unavailable;       // why it cannot be measured; empty if it can

  // Found out by a first run.
  std::string library;  // the file that served it
  std::string version;  // of that file, as far as it is known
};

[[nodiscard]] inline bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `configurations` are of one kind.
template <class Configurations>
[[nodiscard]] bool is_any_available(const Configurations& configurations) {
  return std::any_of(configurations.begin(), configurations.end(),
                     [](const Configuration& one) { return one.unavailable.empty(); });
}

}  // namespace hierbar::bench
