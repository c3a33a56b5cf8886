// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults of LLVM's libomp that we do not mend; runtime/libomp/UPSTREAM.md describes them. Each case
// hangs, crashes or fails a check on the unpatched library and on ours, so ctest runs none of them.
// One that passes is news for that document.

// BUILD: clang

#include <omp.h>

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

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"untied_undeferred_task_waits", untied_undeferred_task_waits}});
}
