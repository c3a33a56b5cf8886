// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults of LLVM's libomp that we do not mend; runtime/libomp/UPSTREAM.md describes them. Each case
// hangs, crashes or fails a check on the unpatched library and on ours, so ctest runs none of them.
// One that passes is news for that document.

#include <omp.h>

#include <atomic>
#include <thread>

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

// One root after the other makes tasks and ends; its former workers serve the next one.
void roots_that_end() {
  for (int root = 0; root < 300; ++root) {
    std::thread([] {
      std::atomic<int> done{0};
      for (int region = 0; region < 4; ++region) {
#pragma omp parallel num_threads(3)
        for (int i = 0; i < 3; ++i) {
#pragma omp task shared(done)
          {
#pragma omp task shared(done)
            ++done;
          }
        }
      }
      CHECK_EQUAL(done.load(), 4 * 3 * 3);
    }).join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"untied_undeferred_task_waits", untied_undeferred_task_waits}, {"roots_that_end", roots_that_end}});
}
