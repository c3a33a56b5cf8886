// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small hybrid program: Jacobi's method for Laplace's equation on a square with zeros around it,
// by MPI ranks with OpenMP teams. Rank 0 prints one line of JSON. stencil_bench starts it:
//
//   stencil_worker ROWS COLUMNS SWEEPS SAMPLES LIMIT_S
//
// Each rank has a band of rows, and each thread a part of that band. A sweep does what such
// programs do between two synchronisations:
//
// 1. The primary exchanges the rows at the band's borders with the neighbouring ranks. A team
//    barrier follows.
// 2. Every point becomes the mean of its four neighbours, and the team adds up the squares. A team
//    barrier follows.
// 3. The primary adds up the sums of all ranks, as for a test of convergence. A team barrier
//    follows.
//
// A small square is mostly synchronisation, a large one mostly memory.
//
// The result is known. The start is an eigenvector of the sweep, sin(p pi i / (ROWS + 1)) sin(q pi
// j / (COLUMNS + 1)). So after k sweeps the values are the start times lambda^k, with lambda =
// (cos(p pi / (ROWS + 1)) + cos(q pi / (COLUMNS + 1))) / 2. Every point and every sum is compared
// with that. A border row that is one sweep old would differ by far more than rounding.

#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kWaves = 3;             // p and q
constexpr double kTolerance = 1e-10;  // relative; rounding causes about 1e-14

int rank = 0;
int num_ranks = 1;

struct Problem {
  long rows = 0;
  long columns = 0;
  int sweeps = 0;

  [[nodiscard]] double lambda() const { return (std::cos(angle(rows)) + std::cos(angle(columns))) / 2; }
  [[nodiscard]] double start(long row, long column) const {
    return std::sin(angle(rows) * static_cast<double>(row)) * std::sin(angle(columns) * static_cast<double>(column));
  }
  // Sums of squares of sines over whole half-periods are (n + 1) / 2.
  [[nodiscard]] double start_squares() const { return static_cast<double>((rows + 1) * (columns + 1)) / 4; }

 private:
  static double angle(long points) { return kWaves * kPi / static_cast<double>(points + 1); }
};

// NaN counts as wrong. std::max would ignore it.
double worse(double deviation, double other) { return std::isnan(other) ? HUGE_VAL : std::max(deviation, other); }

// The `index`-th of `parts` nearly equal parts of [1, total].
std::pair<long, long> part(long total, long index, long parts) {
  return {1 + total * index / parts, 1 + total * (index + 1) / parts};
}

// This rank's rows, with one more row above and below, and one more column left and right.
class Band {
 public:
  explicit Band(const Problem& problem)
      : problem_(problem),
        width_(problem.columns + 2),
        first_(part(problem.rows, rank, num_ranks).first),
        num_rows_(part(problem.rows, rank, num_ranks).second - first_),
        old_(allocate()),
        new_(allocate()) {}
  ~Band() { std::free(old_), std::free(new_); }
  Band(const Band&) = delete;
  Band& operator=(const Band&) = delete;

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

 private:
  // Does not touch the memory: pages are allocated when they are filled.
  [[nodiscard]] double* allocate() const { return static_cast<double*>(std::malloc((num_rows_ + 2) * width_ * sizeof(double))); }

  [[nodiscard]] std::pair<long, long> my_rows() const { return part(num_rows_, omp_get_thread_num(), omp_get_num_threads()); }

  double sweep_rows(long begin, long end) {
    double squares = 0;
    for (long row = begin; row < end; ++row) {
      const double* const here = old_ + row * width_;
      double* const to = new_ + row * width_;
      for (long column = 1; column <= problem_.columns; ++column) {
        const double value = (here[column - 1] + here[column + 1] + here[column - width_] + here[column + width_]) / 4;
        to[column] = value;
        squares += value * value;
      }
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

  const Problem problem_;
  const long width_;
  const long first_;  // the first row, in the whole square
  const long num_rows_;
  double* old_;
  double* new_;
};

double largest(double value) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

// The cpus on which the threads of all ranks may run.
struct Cpus {
  int num_used = 0;             // cpus that some thread may use
  int most_threads_on_one = 0;  // of the threads that are bound to one cpu, the most that share it
};

Cpus cpus_of_all_threads() {
  std::vector<int> allowed(CPU_SETSIZE), bound(CPU_SETSIZE);
#pragma omp parallel
  {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
#pragma omp critical
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &cpus)) continue;
      ++allowed[cpu];
      bound[cpu] += CPU_COUNT(&cpus) == 1;
    }
  }
  for (std::vector<int>* counts : {&allowed, &bound}) {
    MPI_Allreduce(MPI_IN_PLACE, counts->data(), CPU_SETSIZE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  return {static_cast<int>(std::count_if(allowed.begin(), allowed.end(), [](int count) { return count > 0; })),
          *std::max_element(bound.begin(), bound.end())};
}

int run(const Problem& problem, int num_samples) {
  std::string samples;
  double worst = 0;
  for (int sample = 0; sample <= num_samples; ++sample) {  // the first one is a warm-up
    Band band(problem);
    band.fill();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const double sums_deviation = band.sweep_all();
    const double seconds = largest(MPI_Wtime() - begin);
    worst = std::max({worst, sums_deviation, band.deviation()});
    if (sample > 0) samples += (samples.empty() ? "" : ", ") + std::to_string(1e6 * seconds / problem.sweeps);
  }
  worst = largest(worst);
  const Cpus cpus = cpus_of_all_threads();
  if (rank == 0) {
    std::printf(
        "{\"us_per_sweep\": [%s], \"deviation\": %g, \"correct\": %s, \"threads_per_rank\": %d, \"cpus\": %d, "
        "\"most_threads_on_one_cpu\": %d}\n",
        samples.c_str(), worst, worst < kTolerance ? "true" : "false", omp_get_max_threads(), cpus.num_used,
        cpus.most_threads_on_one);
  }
  return worst < kTolerance ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "stencil_worker: started by stencil_bench only\n");
    return 2;
  }
  alarm(static_cast<unsigned>(std::atoi(argv[5])));
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const int status = run({std::atol(argv[1]), std::atol(argv[2]), std::atoi(argv[3])}, std::atoi(argv[4]));
  MPI_Finalize();
  return status;
}
