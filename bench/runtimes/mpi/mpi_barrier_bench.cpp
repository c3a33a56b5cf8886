// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mpi_barrier_bench: MPI_Barrier under different MPI libraries, side by side. `--help` prints its
// manual.

#include "bench/runtimes/driver.hpp"
#include "bench/runtimes/mpi/bench.hpp"

int main(int argc, char** argv) {
  using Options = hierbar::bench::mpi::MpiBenchOptions;
  return hierbar::bench::run_driver<Options>(Options::kProgram, argc, argv,
                                             hierbar::bench::mpi::parse_options,
                                             hierbar::bench::run_bench<Options>);
}
