// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures barriers of all threads of all ranks, on one machine. The MPI library's own compiler
// driver builds it with OpenMP, and it is linked with the shim:
//
//   mpiexec -n 2 hybrid_barrier_bench --threads 2 [--budget-ms 500]
//
// Batches take turns, so that all are measured in the same moments of the machine:
//
//   team    hierbar_team_barrier()
//   phases  omp barrier; MPI_Barrier in the master; omp barrier
//   omp     omp barrier, in each rank alone
//   mpi     MPI_Barrier of the masters, while the other threads do nothing
//   floor   an exchange of two words on one line, written by hand; with two participants only
//   served, threadcomm
//           MPI_Barrier and PMPI_Barrier on a communicator of threads, where the MPI library has
//           them (MPICH from version 4.2 on): the shim's and the library's own
//
// MPI_Barrier is the shim's; HIERBAR_MPI=off makes it the MPI library's (and takes the engine from
// the team as well). Which libomp or libgomp runs is decided by the loader. Rank 0 prints the
// median and the quartiles over the batches, in ns for one barrier; a batch counts as long as in
// its slowest rank.

#include <dlfcn.h>
#include <hierbar/mpi.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/arch/pause.hpp"
#include "bench/common/measured_program.hpp"

namespace {

using hierbar::bench::now_ns;

constexpr int kNumBatches = 60;
constexpr int kWarmUp = 20;

struct Method {
  const char* name;
  std::function<void(int thread)> cross;  // one barrier, in each thread
  std::vector<double> samples;
};

struct alignas(128) FloorLine {
  std::atomic<std::uint64_t> words[2];
};

double maximum(double value) {
  double most;
  PMPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

[[noreturn]] void wrong(const char* argument) {
  std::fprintf(stderr,
               "hybrid_barrier_bench: '%s': allowed: --threads 1 to 1024, --budget-ms 1 to 60000\n",
               argument);
  std::exit(2);
}

long number_in(const char* name, const char* text, long most) {
  char* end = nullptr;
  const long value = text != nullptr ? std::strtol(text, &end, 10) : 0;
  if (text == nullptr || *end != '\0' || value < 1 || value > most)
    wrong(text != nullptr ? text : name);
  return value;
}

// The threads of this rank, all in one parallel region: between regions waiting threads of one rank
// may hold the cpus that another one needs.
class Crew {
 public:
  Crew(hierbar_team team, int thread, double& shared_ns)
      : team_(team), thread_(thread), shared_ns_(shared_ns) {}

  // The time of `count` barriers in the slowest rank, the same in all threads. All begin together.
  double time_batch(const Method& method, long count) const {
    hierbar_team_barrier(team_, thread_);
    const double start = now_ns();
    for (long i = 0; i < count; ++i) method.cross(thread_);
    if (thread_ == 0) shared_ns_ = maximum(now_ns() - start);
    hierbar_team_barrier(team_, thread_);
    return shared_ns_;
  }

  // Twice each, because the threads may have lost their cpus meanwhile.
  long choose_batch(const Method& method, double batch_ns) const {
    double elapsed_ns = time_batch(method, kWarmUp);
    for (long count = 4;; count *= 4) {
      elapsed_ns = time_batch(method, count);
      elapsed_ns = std::min(elapsed_ns, time_batch(method, count));
      if (elapsed_ns >= batch_ns / 2)
        return std::max(1L, static_cast<long>(static_cast<double>(count) * batch_ns / elapsed_ns));
    }
  }

  void measure(std::vector<Method>& methods, double budget_ns) const {
    std::vector<long> batches;
    for (const Method& method : methods)
      batches.push_back(choose_batch(method, budget_ns / kNumBatches));
    for (int batch = 0; batch < kNumBatches; ++batch) {
      for (std::size_t i = 0; i < methods.size(); ++i) {
        const double elapsed_ns = time_batch(methods[i], batches[i]);
        if (thread_ == 0)
          methods[i].samples.push_back(elapsed_ns / static_cast<double>(batches[i]));
      }
    }
  }

 private:
  hierbar_team team_;
  int thread_;
  double& shared_ns_;
};

double quantile(std::vector<double> samples, double part) {
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1))];
}

void print(const std::vector<Method>& methods, int num_ranks, int num_threads) {
  std::printf("%d ranks x %d threads; OpenMP: %s\n", num_ranks, num_threads,
              hierbar::bench::file_of("GOMP_barrier").c_str());
  std::printf("%-10s %10s %10s %10s\n", "ns", "median", "quartile", "quartile");
  for (const Method& method : methods) {
    std::printf("%-10s %10.1f %10.1f %10.1f\n", method.name, quantile(method.samples, 0.5),
                quantile(method.samples, 0.25), quantile(method.samples, 0.75));
  }
}

// One of MPICH's communicators of threads: one, because below MPI_THREAD_MULTIPLE MPICH cannot
// finish two. The functions are looked for, because the header may be older than the library.
class Threadcomm {
 public:
  explicit Threadcomm(int num_threads)
      : exists_(dlsym(RTLD_DEFAULT, "PMPIX_Threadcomm_init") != nullptr) {
    if (exists_)
      find<int (*)(MPI_Comm, int, MPI_Comm*)>("MPIX_Threadcomm_init")(MPI_COMM_WORLD, num_threads,
                                                                      &comm_);
  }
  // Each thread, in the parallel region.
  void start() const {
    if (exists_) find<int (*)(MPI_Comm)>("MPIX_Threadcomm_start")(comm_);
  }
  void finish() const {
    if (exists_) find<int (*)(MPI_Comm)>("MPIX_Threadcomm_finish")(comm_);
  }
  void free() {
    if (exists_) find<int (*)(MPI_Comm*)>("MPIX_Threadcomm_free")(&comm_);
  }
  void add_to(std::vector<Method>& methods) const {
    if (!exists_) return;
    methods.push_back({"served", [comm = comm_](int) { MPI_Barrier(comm); }, {}});
    methods.push_back({"threadcomm", [comm = comm_](int) { PMPI_Barrier(comm); }, {}});
  }

 private:
  template <class Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }

  const bool exists_;
  MPI_Comm comm_{};
};

struct HybridBenchOptions {
  int num_threads = 2;
  double budget_ns = 500e6;
};

HybridBenchOptions read_options(int argc, char** argv) {
  HybridBenchOptions options;
  for (int i = 1; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--threads") == 0) {
      options.num_threads = static_cast<int>(number_in(argv[i], argv[i + 1], 1024));
    } else if (std::strcmp(argv[i], "--budget-ms") == 0) {
      options.budget_ns = static_cast<double>(number_in(argv[i], argv[i + 1], 60'000)) * 1e6;
    } else {
      wrong(argv[i]);
    }
  }
  return options;
}

// The line that rank 0 shares with the others.
FloorLine& share_line(int rank, MPI_Win& window) {
  void* memory;
  MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(sizeof(FloorLine)) : 0, 1,
                          MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  auto& line = *static_cast<FloorLine*>(memory);
  line.words[0] = line.words[1] = 0;
  PMPI_Barrier(MPI_COMM_WORLD);
  return line;
}

std::vector<Method> barriers(hierbar_team team) {
  return {{"team", [team](int thread) { hierbar_team_barrier(team, thread); }, {}},
          {"phases",
           [](int thread) {
#pragma omp barrier
             if (thread == 0) MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
           },
           {}},
          {"omp",
           [](int) {
#pragma omp barrier
           },
           {}},
          {"mpi",
           [](int thread) {
             if (thread == 0) MPI_Barrier(MPI_COMM_WORLD);
           },
           {}}};
}

// What two participants need at least.
Method floor(FloorLine& line, int rank) {
  return {"floor",
          [&line, rank](int thread) {
            const int me = rank + thread;
            const std::uint64_t next = line.words[me].load(std::memory_order_relaxed) + 1;
            line.words[me].store(next, std::memory_order_release);
            while (line.words[1 - me].load(std::memory_order_acquire) < next) hierbar::cpu_pause();
          },
          {}};
}

}  // namespace

int main(int argc, char** argv) {
  const HybridBenchOptions options = read_options(argc, argv);
  const int num_threads = options.num_threads;
  int level, rank, num_ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  hierbar_team team;
  if (hierbar_team_create(MPI_COMM_WORLD, num_threads, &team) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
#pragma omp parallel num_threads(num_threads)
  {
    hierbar_team_join(team, omp_get_thread_num());
    for (int i = 0; i < 3; ++i) hierbar_team_barrier(team, omp_get_thread_num());
  }

  MPI_Win window;
  FloorLine& line = share_line(rank, window);
  std::vector<Method> methods = barriers(team);
  if (num_ranks * num_threads == 2) methods.push_back(floor(line, rank));
  Threadcomm threadcomm(num_threads);
  threadcomm.add_to(methods);
  double shared_ns = 0;
#pragma omp parallel num_threads(num_threads)
  {
    threadcomm.start();
    Crew(team, omp_get_thread_num(), shared_ns).measure(methods, options.budget_ns);
    threadcomm.finish();
  }
  threadcomm.free();
  if (rank == 0) print(methods, num_ranks, num_threads);
  MPI_Win_free(&window);
  hierbar_team_free(&team);
  MPI_Finalize();
  return 0;
}
