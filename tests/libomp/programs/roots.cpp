// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Threads of the program's own that begin regions and end, as in a server with a thread for each
// request. Workers and other threads may hold memory of such a thread when it is gone.

// BUILD: clang
// BUILD: gcc
// TEST: tasks_of_roots_that_end several_at_once tasks_with_dependences memory_outlives_its_root
//     memory_does_not_grow
//   CHECK: --counter phased>=10
// TEST stock_pattern: tasks_of_roots_that_end several_at_once tasks_with_dependences
//     memory_outlives_its_root memory_does_not_grow
//   ENV: KMP_BARRIER

#include <omp.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

// Tasks in tasks, so that workers free what the root has allocated and the other way round.
void tasks(int num_threads, int num_regions) {
  std::atomic<int> done{0};
  for (int region = 0; region < num_regions; ++region) {
#pragma omp parallel num_threads(num_threads)
    for (int i = 0; i < 3; ++i) {
#pragma omp task shared(done)
      {
#pragma omp task shared(done)
        ++done;
      }
    }
  }
  CHECK_EQUAL(done.load(), num_regions * num_threads * 3);
}

// One after the other.
void tasks_of_roots_that_end() {
  for (int root = 0; root < 300; ++root) std::thread([] { tasks(3, 4); }).join();
}

// The workers of one serve another one next, and the initial thread has a team as well.
void several_at_once() {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> roots;
    for (int root = 0; root < 6; ++root)
      roots.emplace_back([=] { tasks(2 + (round + root) % 3, 3); });
    tasks(3, 2);
    for (std::thread& root : roots) root.join();
  }
}

// A producer in a single construct, whose tasks have dependences: their nodes and tables are
// allocated in the same way.
void tasks_with_dependences() {
  for (int root = 0; root < 300; ++root) {
    std::thread([] {
      int value = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
      for (int i = 0; i < 12; ++i) {
#pragma omp task depend(inout : value) shared(value)
        ++value;
      }
      CHECK_EQUAL(value, 12);
    }).join();
  }
}

// Memory that one thread has got and another one frees, when the first is gone.
void memory_outlives_its_root() {
  std::vector<char*> blocks;
  for (int root = 0; root < 200; ++root) {
    std::thread([&] {
      for (const std::size_t size : {24, 100, 5000, 70000}) {
        char* const block = static_cast<char*>(omp_alloc(size, omp_default_mem_alloc));
        CHECK(block != nullptr);
        std::memset(block, root, size);
        blocks.push_back(block);
      }
      tasks(2, 1);
    }).join();
    if (root % 8 != 7) continue;
    for (char* const block : blocks) omp_free(block, omp_default_mem_alloc);
    blocks.clear();
    tasks(3, 1);
  }
}

long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(file != nullptr);
  CHECK_EQUAL(std::fscanf(file, "%ld %ld", &pages, &resident), 2);
  std::fclose(file);
  return resident * 4;
}

// What a root leaves is used by the next one: 2000 roots need no more than 200.
void memory_does_not_grow() {
  for (int root = 0; root < 200; ++root) std::thread([] { tasks(2, 2); }).join();
  const long first = resident_kib();
  for (int root = 0; root < 2000; ++root) std::thread([] { tasks(2, 2); }).join();
  CHECK(resident_kib() - first < 1024);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"tasks_of_roots_that_end", tasks_of_roots_that_end},
                             {"several_at_once", several_at_once},
                             {"tasks_with_dependences", tasks_with_dependences},
                             {"memory_outlives_its_root", memory_outlives_its_root},
                             {"memory_does_not_grow", memory_does_not_grow}});
}
