// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints how long the first parallel region of the process took, in ms: initialisation, topology,
// plan, threads and all. Argument: number of threads.

// BUILD: clang
// NEEDS: native

#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

// Not a part of main(): Clang asks for the thread's number, which starts the runtime, where the
// function with the region begins.
[[gnu::noinline]] int count_threads(int num_threads) {
  int count = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : count)
  {
#pragma omp barrier
    ++count;
  }
  return count;
}

int main(int argc, char** argv) {
  const int num_threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const auto begin = std::chrono::steady_clock::now();
  const int count = count_threads(num_threads);
  const std::chrono::duration<double, std::milli> duration =
      std::chrono::steady_clock::now() - begin;
  std::printf("%.3f\n", duration.count());
  return count == num_threads ? 0 : 1;
}
