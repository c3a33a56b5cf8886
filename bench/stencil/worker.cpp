// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small hybrid program: Jacobi's method for Laplace's equation on a square with zeros around it,
// by MPI ranks with OpenMP teams. Rank 0 prints one line of JSON. stencil_bench starts it:
//
//   stencil_worker ROWS COLUMNS SWEEPS SAMPLES LIMIT_S messages|phases|hybrid
//
// Each rank has a band of rows, and each thread a part of that band. The last argument says how
// ranks meet in a sweep: by messages (message_band.hpp), or in memory that they share, with a
// barrier of all threads of all ranks (shared_band.hpp), in three phases or in one.
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
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/stencil/bands.hpp"

namespace {

using namespace hierbar::bench::stencil;

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
  return {static_cast<int>(
              std::count_if(allowed.begin(), allowed.end(), [](int count) { return count > 0; })),
          *std::max_element(bound.begin(), bound.end())};
}

// `sweep_all(band)` runs the sweeps.
template <class OneBand, class SweepAll>
int run(const Problem& problem, int num_samples, SweepAll&& sweep_all) {
  std::string samples;
  double worst = 0;
  for (int sample = 0; sample <= num_samples; ++sample) {  // the first one is a warm-up
    OneBand band(problem);
    band.fill();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const double sums_deviation = sweep_all(band);
    const double seconds = largest(MPI_Wtime() - begin);
    worst = std::max({worst, sums_deviation, band.deviation()});
    if (sample > 0)
      samples += (samples.empty() ? "" : ", ") + std::to_string(1e6 * seconds / problem.sweeps);
  }
  worst = largest(worst);
  const Cpus cpus = cpus_of_all_threads();
  if (rank == 0) {
    std::printf(
        "{\"us_per_sweep\": [%s], \"deviation\": %g, \"correct\": %s, \"threads_per_rank\": %d, "
        "\"cpus\": %d, "
        "\"most_threads_on_one_cpu\": %d}\n",
        samples.c_str(), worst, worst < kTolerance ? "true" : "false", omp_get_max_threads(),
        cpus.num_used, cpus.most_threads_on_one);
  }
  return worst < kTolerance ? 0 : 1;
}

int run_by(const std::string& way, const Problem& problem, int num_samples) {
  if (way == "messages")
    return run<MessageBand>(problem, num_samples,
                            [](MessageBand& band) { return band.sweep_all(); });
  AllThreadsBarrier barrier(way == "hybrid");
  return run<SharedBand>(problem, num_samples,
                         [&barrier](SharedBand& band) { return band.sweep_all(barrier); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "stencil_worker: started by stencil_bench only\n");
    return 2;
  }
  alarm(static_cast<unsigned>(std::atoi(argv[5])));
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const int status = run_by(argv[6], {std::atol(argv[1]), std::atol(argv[2]), std::atoi(argv[3])},
                            std::atoi(argv[4]));
  MPI_Finalize();
  return status;
}
