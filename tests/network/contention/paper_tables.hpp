// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "network/contention/contention_table.hpp"

namespace hierbar::network::test {

// The slowdowns that paper P3 prints under its figures 3 to 5, for 128, 64, 32, 16, 8 and 4 MB,
// from cf = 1 on.
struct PaperFigure {
  std::string name;
  std::vector<std::vector<double>> rows;
};

inline constexpr std::uint64_t kMegabyte = 1U << 20;

inline PaperFigure figure_3a() {
  return {"3a, memory of a NUMA node",
          {{1, 1.21, 1.55, 1.96},
           {1, 1.20, 1.55, 1.96},
           {1, 1.25, 1.56, 1.96},
           {1, 1.36, 1.55, 1.95},
           {1, 1.75, 2.47, 3.31},
           {1, 2.48, 4.42, 6.05}}};
}
inline PaperFigure figure_3b() {
  return {"3b, memory of an SMP node",
          {{1, 2.03, 3.03, 4.06},
           {1, 2.00, 3.04, 4.06},
           {1, 2.17, 3.23, 4.03},
           {1, 2.17, 3.43, 3.80},
           {1, 1.01, 1.01, 4.27},
           {1, 0.86, 0.82, 0.96}}};
}
inline PaperFigure figure_4() {
  return {"4, QPI",
          {{1, 1.85, 2.01, 2.20},
           {1, 1.85, 1.98, 2.19},
           {1, 1.82, 1.97, 2.16},
           {1, 1.78, 1.91, 2.12},
           {1, 1.83, 1.96, 2.16},
           {1, 1.99, 2.09, 2.38}}};
}
inline PaperFigure figure_5a() {
  return {"5a, InfiniBand QDR",
          {{1, 2.0, 2.8, 3.8, 4.4, 5.7, 6.4, 7.6},
           {1, 2.0, 2.9, 3.9, 4.8, 5.7, 6.5, 7.4},
           {1, 2.0, 2.7, 3.8, 4.4, 5.7, 6.0, 7.7},
           {1, 2.0, 3.8, 4.0, 4.2, 4.8, 6.1, 7.6},
           {1, 2.0, 4.3, 4.1, 4.7, 5.0, 7.6, 7.6},
           {1, 2.1, 9.8, 2.2, 2.1, 3.0, 6.5, 8.5}}};
}
inline PaperFigure figure_5b() {
  return {"5b, Gigabit Ethernet",
          {{1, 0.3, 3.0, 0.5, 5.0, 6.0, 6.0, 6.0},
           {1, 0.3, 3.0, 0.5, 5.0, 5.2, 6.0, 6.0},
           {1, 0.3, 3.0, 0.5, 5.0, 6.0, 6.0, 6.0},
           {1, 0.3, 3.0, 0.6, 5.0, 6.0, 6.0, 6.0},
           {1, 0.3, 3.0, 0.6, 5.0, 6.0, 6.0, 5.9},
           {1, 0.3, 3.0, 0.5, 4.9, 5.9, 5.9, 5.9}}};
}

inline std::uint64_t size_of_row(std::size_t row) { return (128 >> row) * kMegabyte; }

// A table with these slowdowns, where one pair needs `us_per_megabyte` for a megabyte.
inline ContentionTable table_of(const PaperFigure& figure, double us_per_megabyte) {
  ContentionTable table;
  for (std::size_t row = 0; row < figure.rows.size(); ++row) {
    const double alone = us_per_megabyte * static_cast<double>(size_of_row(row) / kMegabyte);
    for (std::size_t i = 0; i < figure.rows[row].size(); ++i) {
      const double time = alone * figure.rows[row][i];
      table.put(size_of_row(row), static_cast<std::uint32_t>(i + 1), {time, time, time});
    }
  }
  return table;
}

}  // namespace hierbar::network::test
