// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// steps loop N      N times a small product of a matrix and a vector, in one region, with a barrier
//                   behind each: how programs for language models run a token
// steps regions N   the same with a region for each
// steps threads N   two std::threads, each with regions of its own, then a std::thread without
//
// Prints a result that does not depend on the runtime or the number of threads, how long it took,
// which OpenMP runtimes are loaded, and how many cpus the process, a later thread and a subprocess
// may use.
#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "../cli/own_process.h"

namespace {

constexpr int kSize = 96;

struct Vectors {
  std::vector<double> matrix = std::vector<double>(kSize * kSize);
  std::vector<double> now = std::vector<double>(kSize, 1.0);
  std::vector<double> next = std::vector<double>(kSize);

  Vectors() {
    for (int i = 0; i < kSize * kSize; ++i) matrix[i] = ((i * 37) % 101 - 50) / 600.0;
  }
  void multiply_row(int row) {
    double sum = 0.1;
    for (int i = 0; i < kSize; ++i) sum += matrix[row * kSize + i] * now[i];
    next[row] = sum;
  }
  double result() const {
    double sum = 0;
    for (const double value : now) sum += value;
    return sum;
  }
};

double in_one_region(int num_steps) {
  Vectors vectors;
#pragma omp parallel
  for (int step = 0; step < num_steps; ++step) {
#pragma omp for schedule(static)
    for (int row = 0; row < kSize; ++row) vectors.multiply_row(row);
#pragma omp single
    vectors.now.swap(vectors.next);
  }
  return vectors.result();
}

double in_many_regions(int num_steps) {
  Vectors vectors;
  for (int step = 0; step < num_steps; ++step) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < kSize; ++row) vectors.multiply_row(row);
    vectors.now.swap(vectors.next);
  }
  return vectors.result();
}

double on_threads(int num_steps) {
  double results[3] = {};
  std::thread one([&] { results[0] = in_many_regions(num_steps); });
  std::thread two([&] { results[1] = in_one_region(num_steps); });
  one.join();
  two.join();
  std::thread three([&] {
    for (int i = 0; i < kSize; ++i) results[2] += i;
  });
  three.join();
  return results[0] + results[1] + results[2];
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const int num_steps = std::atoi(argv[2]);
  double (*const body)(int) = std::strcmp(argv[1], "loop") == 0      ? in_one_region
                              : std::strcmp(argv[1], "regions") == 0 ? in_many_regions
                                                                     : on_threads;
  const int at_start = num_cpus();
  body(1);  // the runtime starts its threads
  const auto begin = std::chrono::steady_clock::now();
  const double result = body(num_steps);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("result %.17g\nseconds %.3f\n", result, seconds.count());
  print_runtimes();
  int of_thread = 0;
  std::thread([&] { of_thread = num_cpus(); }).join();
  std::printf("cpus start %d thread %d after %d subprocess ", at_start, of_thread, num_cpus());
  std::fflush(stdout);
  return std::system("nproc") == 0 ? 0 : 3;
}
