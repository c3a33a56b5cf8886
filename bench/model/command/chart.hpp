// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::model {

struct Series {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each tick; empty if there is none
};

// A picture with one logarithmic scale. It shows the data as groups of bars, or as lines over the
// ticks.
struct Chart {
  std::string title;
  std::string subtitle;
  std::string unit;                // the values' unit
  std::vector<std::string> ticks;  // names of the groups, or of the lines' points
  std::vector<Series> series;
  bool lines = false;
};

std::string to_svg(const Chart& chart);

}  // namespace hierbar::bench::model
