// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library that uses OpenMP, for plugin_host.cpp.

// BUILD as plugin.so: clang -fPIC -shared

#include <omp.h>

#include <atomic>
#include <vector>

// Returns how many of num_threads threads saw everybody's slot in each of 20 barriers, and the
// tasks before them done.
extern "C" __attribute__((visibility("default"))) int plugin_run(int num_threads) {
  std::vector<long> slots(num_threads);
  long* const slot = slots.data();
  std::atomic<int> tasks{0};
  int right = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : right)
  {
    bool all = omp_get_num_threads() == num_threads;
    for (long crossing = 1; crossing <= 20; ++crossing) {
      slot[omp_get_thread_num()] = crossing;
#pragma omp barrier
      for (int i = 0; i < num_threads; ++i) all = all && slot[i] == crossing;
#pragma omp barrier
    }
#pragma omp task shared(tasks)
    ++tasks;
#pragma omp barrier
    right += all && tasks.load() == num_threads;
  }
  return right;
}
