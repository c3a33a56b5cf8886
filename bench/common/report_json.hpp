// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/groups.hpp"
#include "common/host.hpp"
#include "common/judge.hpp"

// What the benchmarks' JSON reports have in common. Times are ns, absent values null.
namespace hierbar::bench {

[[nodiscard]] nlohmann::json or_null(const std::optional<double>& value);
[[nodiscard]] nlohmann::json or_null(const std::string& text);

[[nodiscard]] nlohmann::json to_json(const Host& host);
[[nodiscard]] nlohmann::json to_json(const Verdict& verdict);

// With all its samples. `quantity` is the key under which the report says what the group is about; ratios are to the series
// called `reference_name`.
[[nodiscard]] nlohmann::json group_json(const Group& group, const std::string& quantity, const std::string& reference_name);

[[nodiscard]] nlohmann::json run_json(const Measurements& measurements);

}  // namespace hierbar::bench
