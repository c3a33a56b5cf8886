// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::model {

struct Series {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each tick; empty: none
};

// A picture with one scale of powers of ten. The same data as bars in groups, or as lines over the ticks.
struct Chart {
  std::string title;
  std::string subtitle;
  std::string unit;                // of the values
  std::vector<std::string> ticks;  // the groups, or the positions of the lines' points
  std::vector<Series> series;
  bool lines = false;
};

std::string to_svg(const Chart& chart);

}  // namespace hierbar::bench::model
