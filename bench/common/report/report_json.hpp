// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/files.hpp"
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
[[nodiscard]] nlohmann::json group_json(const Group& group, const std::string& quantity,
                                        const std::string& reference_name);

[[nodiscard]] nlohmann::json run_json(const Measurements& measurements);

// The target of --json: a file that is written as a whole or not at all, or standard output ("-").
// The file is begun before anything is measured, so that a bad path does not cost minutes of
// measuring.
class JsonOutput {
 public:
  explicit JsonOutput(const std::string& path) : path_(path) {
    if (path_.empty() || path_ == "-") return;
    file_.emplace(path_);
    if (!file_->problem().empty()) fail(file_->problem());
  }

  void write(const nlohmann::json& report) {
    if (path_.empty()) return;
    const std::string text = report.dump(1) + '\n';
    if (file_) {
      if (const std::string problem = file_->finish(text); !problem.empty()) fail(problem);
    } else if (!(std::cout << text << std::flush)) {
      fail("standard output cannot be written");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw std::runtime_error(fmt::format("--json {}: {}", path_, problem));
  }

  const std::string path_;
  std::optional<NewFile> file_;
};

}  // namespace hierbar::bench
