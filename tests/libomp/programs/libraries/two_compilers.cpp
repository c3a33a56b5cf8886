// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program of Clang's, which needs libomp.so, with a library of GCC's, which needs libgomp.so.1:
// both are one runtime with one set of threads and settings.

// BUILD: clang -ltwo_compilers_gcc -Wl,-rpath-link,$library_dir
// LIBRARY: libtwo_compilers_gcc.so
// NEEDS: gcc
// TEST: one_library one_set_of_threads_and_settings
//   CHECK: --counter phased>=1
// TEST: one_barrier
//   CHECK: --counter fast==200

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>

#include "tests/libomp/programs/check.hpp"

extern "C" {
int gcc_cross(int crossed);
void gcc_region(int num_threads, void (*body)(int thread));
int gcc_max_threads();
void gcc_set_num_threads(int num_threads);
}

namespace {

constexpr int kNumThreads = 4;

pthread_t threads[kNumThreads];
std::atomic<int> seen{0};

void one_library() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  CHECK(maps != nullptr);
  std::set<unsigned long long> inodes;
  char line[4096];
  while (std::fgets(line, sizeof(line), maps)) {
    unsigned long long inode = 0;
    const char* const name = std::strrchr(line, '/');
    const bool is_openmp =
        name && (!std::strncmp(name, "/libomp", 7) || !std::strncmp(name, "/libgomp", 8));
    if (is_openmp && std::sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1) inodes.insert(inode);
  }
  std::fclose(maps);
  CHECK_EQUAL(inodes.size(), 1);
  gcc_region(kNumThreads, [](int) { ++seen; });
  CHECK_EQUAL(seen.load(), kNumThreads);
}

void one_set_of_threads_and_settings() {
#pragma omp parallel num_threads(kNumThreads)
  threads[omp_get_thread_num()] = pthread_self();
  for (int round = 0; round < 50; ++round) {
    gcc_region(kNumThreads, [](int thread) {
      CHECK(pthread_equal(threads[thread], pthread_self()));
      CHECK_EQUAL(omp_get_thread_num(), thread);
      CHECK_EQUAL(omp_get_num_threads(), kNumThreads);
    });
  }
  gcc_set_num_threads(3);
  CHECK_EQUAL(omp_get_max_threads(), 3);
  omp_set_num_threads(5);
  CHECK_EQUAL(gcc_max_threads(), 5);
}

// Barriers of either compiler in one region.
void one_barrier() {
  std::atomic<int> arrived{0};
#pragma omp parallel num_threads(kNumThreads)
  for (int round = 1; round <= 100; ++round) {
    ++arrived;
    CHECK_EQUAL(gcc_cross(round), round + 1);
    CHECK_EQUAL(arrived.load(), kNumThreads * round);
#pragma omp barrier
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"one_library", one_library},
                             {"one_set_of_threads_and_settings", one_set_of_threads_and_settings},
                             {"one_barrier", one_barrier}});
}
