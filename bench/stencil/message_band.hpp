// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdlib>

#include "bench/stencil/band.hpp"

namespace hierbar::bench::stencil {

// A band whose borders are exchanged by messages. A sweep does what such programs do between two
// synchronisations:
//
// 1. The primary exchanges the rows at the band's borders with the neighbouring ranks. A team
//    barrier follows.
// 2. Every point becomes the mean of its four neighbours, and the team adds up the squares. A team
//    barrier follows.
// 3. The primary adds up the sums of all ranks, as for a test of convergence. A team barrier
//    follows.
class MessageBand : public Band {
 public:
  explicit MessageBand(const Problem& problem) : Band(problem) { old_ = allocate(), new_ = allocate(); }
  ~MessageBand() { std::free(old_), std::free(new_); }
  MessageBand(const MessageBand&) = delete;
  MessageBand& operator=(const MessageBand&) = delete;

  // Returns the largest relative deviation of a sweep's sum of squares.
  double sweep_all() {
    double worst = 0;
    double squares = 0;
    double factor = 1;
#pragma omp parallel shared(worst, squares, factor)
    {
      const auto [begin, end] = my_rows();
      for (int sweep = 0; sweep < problem_.sweeps; ++sweep) {
        // 1. Exchange the borders.
#pragma omp master
        exchange_borders(), squares = 0;
#pragma omp barrier
        // 2. Compute the points.
        const double mine = sweep_rows(begin, end);
#pragma omp atomic
        squares += mine;
#pragma omp barrier
        // 3. Add up.
#pragma omp master
        {
          double all = 0;
          MPI_Allreduce(&squares, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
          factor *= problem_.lambda() * problem_.lambda();
          worst = worse(worst, std::abs(all / (factor * problem_.start_squares()) - 1));
          std::swap(old_, new_);
        }
#pragma omp barrier
      }
    }
    return worst;
  }

 private:
  // Does not touch the memory: pages are allocated when they are filled.
  [[nodiscard]] double* allocate() const { return static_cast<double*>(std::malloc(size() * sizeof(double))); }

  double sweep_rows(long begin, long end) {
    double squares = 0;
    for (long row = begin; row < end; ++row) {
      const double* const here = old_ + row * width_;
      squares += sweep_row(here - width_, here, here + width_, new_ + row * width_);
    }
    return squares;
  }

  void exchange_borders() {
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank + 1 < num_ranks ? rank + 1 : MPI_PROC_NULL;
    const int count = static_cast<int>(width_);
    MPI_Sendrecv(old_ + width_, count, MPI_DOUBLE, above, 0, old_ + (num_rows_ + 1) * width_, count, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old_ + num_rows_ * width_, count, MPI_DOUBLE, below, 1, old_, count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
};

}  // namespace hierbar::bench::stencil
