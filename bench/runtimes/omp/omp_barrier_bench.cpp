// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// omp_barrier_bench: OpenMP constructs under different runtimes, side by side. `--help` prints its
// manual.

#include "bench/runtimes/driver.hpp"
#include "bench/runtimes/omp/bench.hpp"

int main(int argc, char** argv) {
  return hierbar::bench::run_program<hierbar::bench::omp::OmpBenchOptions>(argc, argv);
}
