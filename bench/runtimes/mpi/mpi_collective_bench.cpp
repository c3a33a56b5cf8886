// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mpi_collective_bench: MPI_Allreduce, MPI_Bcast, MPI_Reduce, MPI_Allgather, MPI_Alltoall,
// MPI_Gather, MPI_Scatter and MPI_Reduce_scatter_block of few bytes under different MPI libraries,
// side by side. `--help` prints its manual.

#include "bench/runtimes/driver.hpp"
#include "bench/runtimes/mpi/bench.hpp"

int main(int argc, char** argv) {
  return hierbar::bench::run_program<hierbar::bench::mpi::CollectiveBenchOptions>(argc, argv);
}
