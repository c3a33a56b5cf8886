// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bench/stencil/all_threads_barrier.hpp"
#include "bench/stencil/band.hpp"

namespace hierbar::bench::stencil {

// A band in memory that the ranks share: threads read the rows beyond its borders where the
// neighbouring rank has them. So a sweep needs one barrier of all threads of all ranks, and nothing
// else: what is read in one sweep is written in the next. All ranks must be on one machine.
class SharedBand : public Band {
 public:
  // Collective.
  explicit SharedBand(const Problem& problem) : Band(problem) {
    void* base = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(2 * size() * sizeof(double)), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &base, &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    old_ = static_cast<double*>(base);
    new_ = old_ + size();
    for (const int half : {0, 1}) {
      const double* const own = half == 0 ? old_ : new_;
      above_[half] = rank > 0 ? row_of(rank - 1, half, num_rows_of(rank - 1)) : own;
      below_[half] = rank + 1 < num_ranks ? row_of(rank + 1, half, 1) : own + (num_rows_ + 1) * width_;
    }
  }
  // Collective.
  ~SharedBand() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  SharedBand(const SharedBand&) = delete;
  SharedBand& operator=(const SharedBand&) = delete;

  // Returns the largest relative deviation of a sweep's sum of squares. The sums of all ranks are
  // added up at the end.
  double sweep_all(AllThreadsBarrier& barrier) {
    std::vector<double> squares(static_cast<std::size_t>(problem_.sweeps));
#pragma omp parallel shared(squares, barrier)
    {
      const auto [begin, end] = my_rows();
      barrier.join();
      for (int sweep = 0; sweep < problem_.sweeps; ++sweep) {
        const double mine = sweep_rows(sweep % 2, begin, end);
#pragma omp atomic
        squares[static_cast<std::size_t>(sweep)] += mine;
        barrier.cross();
      }
    }
    if (problem_.sweeps % 2 == 1) std::swap(old_, new_);
    return worst_of(squares);
  }

 private:
  [[nodiscard]] long num_rows_of(int other) const {
    const auto [begin, end] = part(problem_.rows, other, num_ranks);
    return end - begin;
  }

  [[nodiscard]] const double* row_of(int other, int half, long row) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    MPI_Win_shared_query(window_, other, &bytes, &unit, &base);
    return static_cast<const double*>(base) + (half * (num_rows_of(other) + 2) + row) * width_;
  }

  double sweep_rows(int half, long begin, long end) const {
    const double* const from = half == 0 ? old_ : new_;
    double* const to = half == 0 ? new_ : old_;
    double squares = 0;
    for (long row = begin; row < end; ++row) {
      const double* const here = from + row * width_;
      const double* const above = row == 1 ? above_[half] : here - width_;
      const double* const below = row == num_rows_ ? below_[half] : here + width_;
      squares += sweep_row(above, here, below, to + row * width_);
    }
    return squares;
  }

  double worst_of(std::vector<double>& squares) const {
    MPI_Allreduce(MPI_IN_PLACE, squares.data(), problem_.sweeps, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double worst = 0;
    double factor = 1;
    for (const double all : squares) {
      factor *= problem_.lambda() * problem_.lambda();
      worst = worse(worst, std::abs(all / (factor * problem_.start_squares()) - 1));
    }
    return worst;
  }

  MPI_Win window_ = MPI_WIN_NULL;
  // The rows beyond the borders, in each half.
  const double* above_[2] = {};
  const double* below_[2] = {};
};

}  // namespace hierbar::bench::stencil
