// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mpi_barrier_bench: MPI_Barrier under different MPI libraries, side by side. `--help` prints its
// manual.

#include "bench/runtimes/driver.hpp"
#include "bench/runtimes/mpi/bench.hpp"

int main(int argc, char** argv) {
  return hierbar::bench::run_program<hierbar::bench::mpi::MpiBenchOptions>(argc, argv);
}
