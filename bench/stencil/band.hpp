// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include "bench/stencil/problem.hpp"

namespace hierbar::bench::stencil {

// This rank's rows, with one more row above and below, and one more column left and right, before
// and after a sweep. The memory is the caller's.
class Band {
 public:
  explicit Band(const Problem& problem)
      : problem_(problem),
        width_(problem.columns + 2),
        first_(part(problem.rows, rank, num_ranks).first),
        num_rows_(part(problem.rows, rank, num_ranks).second - first_) {}

  // The threads that will use the rows fill them, so that each thread's rows are in memory near to
  // it.
  void fill() {
#pragma omp parallel
    {
      auto [begin, end] = my_rows();
      if (omp_get_thread_num() == 0) --begin;
      if (omp_get_thread_num() == omp_get_num_threads() - 1) ++end;
      for (long row = begin; row < end; ++row) {
        for (long column = 0; column < width_; ++column) {
          const long there = first_ - 1 + row;
          const bool inside = column > 0 && column <= problem_.columns && there > 0 && there <= problem_.rows;
          old_[row * width_ + column] = inside ? problem_.start(there, column) : 0;
          new_[row * width_ + column] = 0;
        }
      }
    }
  }

  // The largest deviation of a point, relative to the largest value.
  [[nodiscard]] double deviation() const {
    const double factor = std::pow(problem_.lambda(), problem_.sweeps);
    double worst = 0;
    for (long row = 1; row <= num_rows_; ++row) {
      for (long column = 1; column <= problem_.columns; ++column) {
        const double wanted = factor * problem_.start(first_ - 1 + row, column);
        worst = worse(worst, std::abs(old_[row * width_ + column] - wanted) / std::abs(factor));
      }
    }
    return worst;
  }

 protected:
  // The points of one of the two.
  [[nodiscard]] long size() const { return (num_rows_ + 2) * width_; }
  [[nodiscard]] std::pair<long, long> my_rows() const { return part(num_rows_, omp_get_thread_num(), omp_get_num_threads()); }

  // The new values of a row, from the one above, itself and the one below. Returns the sum of their
  // squares.
  double sweep_row(const double* above, const double* here, const double* below, double* to) const {
    double squares = 0;
    for (long column = 1; column <= problem_.columns; ++column) {
      const double value = (here[column - 1] + here[column + 1] + above[column] + below[column]) / 4;
      to[column] = value;
      squares += value * value;
    }
    return squares;
  }

  const Problem problem_;
  const long width_;
  const long first_;  // the first row, in the whole square
  const long num_rows_;
  double* old_ = nullptr;
  double* new_ = nullptr;
};

}  // namespace hierbar::bench::stencil
