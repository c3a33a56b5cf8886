// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Times MPI_Barrier, as the preloaded shim serves it, beside the library's own PMPI_Barrier.
//
//   meeting_times BATCHES BARRIERS
//
// Both take turns, a batch of so many barriers at a time. A batch's time is the longest in any
// rank, per barrier. No clocks of two ranks are compared. Rank 0 prints one line of JSON, in
// microseconds.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

// The trial of HIERBAR_MPI_MEETING=auto has 32 meetings, and three that end it.
constexpr int kWarmUp = 40;

double batch_us(int (*barrier)(MPI_Comm), int num_barriers) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < num_barriers; ++i) barrier(MPI_COMM_WORLD);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  double own = spent.count() / num_barriers, longest = 0;
  PMPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

void print(const char* name, const std::vector<double>& times_us, const char* end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < times_us.size(); ++i)
    std::printf("%s%.1f", i == 0 ? "" : ", ", times_us[i]);
  std::printf("]%s", end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int num_batches = std::atoi(argv[1]), num_barriers = std::max(1, std::atoi(argv[2]));
  MPI_Init(&argc, &argv);
  for (int i = 0; i < kWarmUp; ++i) MPI_Barrier(MPI_COMM_WORLD);
  std::vector<double> meeting_us, library_us;
  for (int i = 0; i < num_batches; ++i) {
    meeting_us.push_back(batch_us(MPI_Barrier, num_barriers));
    library_us.push_back(batch_us(PMPI_Barrier, num_barriers));
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::printf("{");
    print("meeting", meeting_us, ", ");
    print("library", library_us, "}\n");
  }
  MPI_Finalize();
  return 0;
}
