// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

// What stencil_worker computes (worker.cpp explains it).
namespace hierbar::bench::stencil {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr int kWaves = 3;             // p and q
inline constexpr double kTolerance = 1e-10;  // relative; rounding causes about 1e-14

inline int rank = 0;
inline int num_ranks = 1;

struct Problem {
  long rows = 0;
  long columns = 0;
  int sweeps = 0;

  [[nodiscard]] double lambda() const {
    return (std::cos(angle(rows)) + std::cos(angle(columns))) / 2;
  }
  [[nodiscard]] double start(long row, long column) const {
    return std::sin(angle(rows) * static_cast<double>(row)) *
           std::sin(angle(columns) * static_cast<double>(column));
  }
  // Sums of squares of sines over whole half-periods are (n + 1) / 2.
  [[nodiscard]] double start_squares() const {
    return static_cast<double>((rows + 1) * (columns + 1)) / 4;
  }

 private:
  static double angle(long points) { return kWaves * kPi / static_cast<double>(points + 1); }
};

// NaN counts as wrong. std::max would ignore it.
inline double worse(double deviation, double other) {
  return std::isnan(other) ? HUGE_VAL : std::max(deviation, other);
}

// The `index`-th of `parts` nearly equal parts of [1, total].
inline std::pair<long, long> part(long total, long index, long parts) {
  return {1 + total * index / parts, 1 + total * (index + 1) / parts};
}

}  // namespace hierbar::bench::stencil
