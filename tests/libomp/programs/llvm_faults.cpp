// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Faults of LLVM's libomp that we do not mend; runtime/libomp/UPSTREAM.md describes them. Each case
// hangs, crashes or fails a check on the unpatched library and on ours, so ctest runs none of them.
// One that passes is news for that document.

// BUILD: clang

#include <omp.h>

#include "tests/libomp/programs/check.hpp"

namespace {

// A task that depends on an undeferred one runs before the event of that one is fulfilled.
void successor_of_an_undeferred_detached_task() {
  bool is_fulfilled = false;
#pragma omp parallel num_threads(1)
  {
    omp_event_handle_t event;
    [[maybe_unused]] char place;
#pragma omp task if (0) detach(event) depend(out : place)
    {
    }
#pragma omp task depend(in : place) shared(is_fulfilled)
    CHECK(is_fulfilled);
    is_fulfilled = true;
    omp_fulfill_event(event);
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"successor_of_an_undeferred_detached_task", successor_of_an_undeferred_detached_task}});
}
