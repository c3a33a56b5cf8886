// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programs whose barriers the tool reports:
//
//   barriers imbalanced COUNT NS   thread 1 works NS longer than the others before each of COUNT
//                                  barriers
//   barriers team COUNT THREADS    COUNT barriers of so many threads, which do nothing else
//   barriers sleep MS              two regions, between which the initial thread sleeps that long
//   barriers tasks COUNT           a task for each of COUNT barriers, in which the others wait
//   barriers regions COUNT         empty regions of 2 and 3 threads in turn
//   barriers reductions COUNT      COUNT reductions of 6 threads

#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void work(double ns) {
  const double start = omp_get_wtime();
  while (omp_get_wtime() - start < ns / 1e9) {
  }
}

void imbalanced(int count, double ns) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < count; ++i) {
    if (omp_get_thread_num() == 1) work(ns);
#pragma omp barrier
  }
}

void team(int count, int num_threads) {
#pragma omp parallel num_threads(num_threads)
  for (int i = 0; i < count; ++i) {
#pragma omp barrier
  }
}

void regions(int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2 + i % 2)
    work(100);
  }
}

long sum = 0;

void reductions(int count) {
#pragma omp parallel num_threads(6)
  for (int i = 0; i < count; ++i) {
#pragma omp for schedule(static) reduction(+ : sum)
    for (int k = 0; k < 6; ++k) sum += k;
  }
}

void tasks(int count) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < count; ++i) {
#pragma omp single
    {
#pragma omp task
      work(20000);
    }
  }
}

void sleep_between(int ms) {
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel num_threads(2)
    work(1000);
    if (i == 0) usleep(static_cast<useconds_t>(ms) * 1000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  const char* what = argc > 2 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (std::strcmp(what, "imbalanced") == 0 && argc > 3)
    imbalanced(number, std::atof(argv[3]));
  else if (std::strcmp(what, "team") == 0 && argc > 3)
    team(number, std::atoi(argv[3]));
  else if (std::strcmp(what, "sleep") == 0)
    sleep_between(number);
  else if (std::strcmp(what, "tasks") == 0)
    tasks(number);
  else if (std::strcmp(what, "regions") == 0)
    regions(number);
  else if (std::strcmp(what, "reductions") == 0)
    reductions(number);
  else
    return 2;
  std::puts("done");
  return 0;
}
