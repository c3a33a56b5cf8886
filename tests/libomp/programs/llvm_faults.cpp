// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults of LLVM's libomp that we do not mend; runtime/libomp/UPSTREAM.md describes them. Each case
// hangs, crashes or fails a check on the unpatched library and on ours, so ctest runs none of them.
// One that passes is news for that document.

#include <omp.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

// An untied task that is not deferred waits for a child.
void untied_undeferred_task_waits() {
  int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task untied if (0) shared(done)
    {
#pragma omp task shared(done)
      ++done;
#pragma omp taskwait
      ++done;
    }
  }
  CHECK_EQUAL(done, 2);
}

// Each root makes tasks and ends, while its former workers serve other roots.
void roots_that_end() {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::thread> roots;
    for (int root = 0; root < 3; ++root) {
      roots.emplace_back([] {
        std::atomic<int> done{0};
#pragma omp parallel num_threads(5)
        for (int i = 0; i < 30; ++i) {
#pragma omp task shared(done)
          {
#pragma omp task shared(done)
            ++done;
          }
        }
        CHECK_EQUAL(done.load(), 150);
      });
    }
    for (std::thread& root : roots) root.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"untied_undeferred_task_waits", untied_undeferred_task_waits}, {"roots_that_end", roots_that_end}});
}
