// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"

// The common part of the benchmarks' JSON reports. Times are in ns; absent values are null.
namespace hierbar::bench {

[[nodiscard]] nlohmann::json or_null(const std::optional<double>& value);
[[nodiscard]] nlohmann::json or_null(const std::string& text);

[[nodiscard]] nlohmann::json to_json(const Host& host);
[[nodiscard]] nlohmann::json to_json(const Verdict& verdict);

// A group with all its samples. `quantity` is the key of what the group measures. Ratios are to the
// series `reference_name`.
[[nodiscard]] nlohmann::json group_json(const Group& group, const std::string& quantity, const std::string& reference_name);

[[nodiscard]] nlohmann::json run_json(const Measurements& measurements);

}  // namespace hierbar::bench
