// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#define HIERBAR_MPI_WEAK  // stencil_bench preloads the library
#include <hierbar/mpi.h>
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

// What stencil_worker computes (worker.cpp explains it), and a rank's part of it: how ranks and
// threads get each other's rows.
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
          const bool inside =
              column > 0 && column <= problem_.columns && there > 0 && there <= problem_.rows;
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
  [[nodiscard]] std::pair<long, long> my_rows() const {
    return part(num_rows_, omp_get_thread_num(), omp_get_num_threads());
  }

  // The new values of a row, from the one above, itself and the one below. Returns the sum of their
  // squares.
  double sweep_row(const double* above, const double* here, const double* below, double* to) const {
    double squares = 0;
    for (long column = 1; column <= problem_.columns; ++column) {
      const double value =
          (here[column - 1] + here[column + 1] + above[column] + below[column]) / 4;
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
  explicit MessageBand(const Problem& problem) : Band(problem) {
    old_ = allocate(), new_ = allocate();
  }
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
  [[nodiscard]] double* allocate() const {
    return static_cast<double*>(std::malloc(size() * sizeof(double)));
  }

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
    MPI_Sendrecv(old_ + width_, count, MPI_DOUBLE, above, 0, old_ + (num_rows_ + 1) * width_, count,
                 MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old_ + num_rows_ * width_, count, MPI_DOUBLE, below, 1, old_, count, MPI_DOUBLE,
                 above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
};

// A barrier of all threads of all ranks: hierbar's, or an OpenMP barrier, MPI_Barrier in the
// primary, and an OpenMP barrier.
class AllThreadsBarrier {
 public:
  // Collective, outside of parallel regions.
  explicit AllThreadsBarrier(bool is_hybrid) {
    if (!is_hybrid) return;
    if (hierbar_team_create == nullptr) {
      std::fprintf(stderr, "stencil_worker: hybrid: libhierbar_mpi.so is not preloaded\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(hierbar_team_create(MPI_COMM_WORLD, omp_get_max_threads(), &team_));
  }
  ~AllThreadsBarrier() {
    if (team_ != HIERBAR_TEAM_NULL) check(hierbar_team_free(&team_));
  }
  AllThreadsBarrier(const AllThreadsBarrier&) = delete;
  AllThreadsBarrier& operator=(const AllThreadsBarrier&) = delete;

  // By each thread of a parallel region, before it crosses.
  void join() {
    if (team_ != HIERBAR_TEAM_NULL) check(hierbar_team_join(team_, omp_get_thread_num()));
  }
  void cross() {
    if (team_ != HIERBAR_TEAM_NULL) {
      check(hierbar_team_barrier(team_, omp_get_thread_num()));
      return;
    }
#pragma omp barrier
#pragma omp master
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
  }

 private:
  static void check(int error) {
    if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);  // the library has explained it
  }

  hierbar_team team_ = HIERBAR_TEAM_NULL;
};

// A band in memory that the ranks share: threads read the rows beyond its borders where the
// neighbouring rank has them. So a sweep needs one barrier of all threads of all ranks, and nothing
// else: what is read in one sweep is written in the next. All ranks must be on one machine.
class SharedBand : public Band {
 public:
  // Collective.
  explicit SharedBand(const Problem& problem) : Band(problem) {
    void* base = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(2 * size() * sizeof(double)), sizeof(double),
                            MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    old_ = static_cast<double*>(base);
    new_ = old_ + size();
    for (const int half : {0, 1}) {
      const double* const own = half == 0 ? old_ : new_;
      above_[half] = rank > 0 ? row_of(rank - 1, half, num_rows_of(rank - 1)) : own;
      below_[half] =
          rank + 1 < num_ranks ? row_of(rank + 1, half, 1) : own + (num_rows_ + 1) * width_;
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
    MPI_Allreduce(MPI_IN_PLACE, squares.data(), problem_.sweeps, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
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
