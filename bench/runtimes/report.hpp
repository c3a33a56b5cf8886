// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"
#include "bench/runtimes/configuration.hpp"

// What the reports of both kinds of runtimes share.
namespace hierbar::bench {

// "A=1 B=2"
[[nodiscard]] std::string to_string(const Variables& variables);

// The lines about the machine and about this program.
[[nodiscard]] std::string machine_text(const Host& host);

// The columns of a group's table.
struct ColumnWidths {
  int name;
  int median;
  int quartiles;
  int ratio;
  int spread;
};

// The line above a group's table, without its end, so that more columns can follow.
struct ColumnTitles {
  std::string name;
  std::string median;
  std::string ratio;
  std::string spread;
};
[[nodiscard]] std::string titles_row(const ColumnWidths& widths, const ColumnTitles& titles);

// Median, quartiles and ratio to the reference, which may be nullptr; then `more` columns. Or why
// there are no figures.
[[nodiscard]] std::string series_row(const ColumnWidths& widths, const Group& group,
                                     const Series& series, const Series* reference,
                                     const std::string& more = "");

[[nodiscard]] nlohmann::json to_json(const Configuration& configuration);

// In what the JSON reports differ. "format" names the layout, and changes when readers would have
// to change.
struct JsonParts {
  const char* format;
  nlohmann::json settings;
  nlohmann::json configurations;
  const char* quantity;   // the key of what a group measures
  std::string reference;  // the name of the series that others are compared with
};

// The whole report, with all samples. Times are in ns; absent values are null.
[[nodiscard]] nlohmann::json json_report(const JsonParts& parts, const Measurements& measurements,
                                         const Host& host, const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench
