// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Regions of one thread within others, begun while a detached task of the outer region is not
// complete. What the inner region waits for are tasks of its own.

// BUILD: clang
// TEST: taskwaits barriers regions_in_regions dependences sets_in_a_final_task settings
// TEST stock_pattern: taskwaits barriers regions_in_regions dependences sets_in_a_final_task
//     settings
//   ENV: KMP_BARRIER

#include <omp.h>

#include <optional>

#include "detached.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

// A region of one thread with a detached task, and one that depends on it. Both are complete after
// `inner` only.
template <class Inner>
void beside_a_detached_task(Inner inner) {
#pragma omp parallel num_threads(1)
  {
    bool outer_has_run = false;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : outer_has_run)
    static_cast<void>(event);
#pragma omp task depend(in : outer_has_run) shared(outer_has_run)
    outer_has_run = true;
    inner(outer_has_run);
    CHECK(!outer_has_run);
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(outer_has_run);
  }
}

// Makes tasks of which one is detached, in a region of one thread, and waits for them.
template <class Wait>
void wait_within(Wait wait) {
  for (int round = 0; round < 20; ++round) {
    beside_a_detached_task([=](bool&) {
#pragma omp parallel num_threads(1)
      {
        bool has_run = false;
        std::optional<omp_test::LateFulfilment> fulfilment;
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : has_run) shared(fulfilment)
        fulfilment.emplace(event);
#pragma omp task depend(in : has_run) shared(has_run)
        has_run = true;
        wait();
        CHECK(fulfilment->is_done());
        CHECK(has_run);
      }
    });
  }
}

void taskwaits() {
  wait_within([] {
#pragma omp taskwait
  });
}

void barriers() {
  wait_within([] {
#pragma omp barrier
  });
}

// In three regions, of which the innermost finds no incomplete task in the one around it.
void regions_in_regions() {
  wait_within([] {
#pragma omp taskwait
#pragma omp parallel num_threads(1)
    {
      bool has_run = false;
#pragma omp task shared(has_run)
      has_run = true;
#pragma omp taskwait
      CHECK(has_run);
    }
  });
}

// Only siblings depend on each other.
void dependences() {
  beside_a_detached_task([](bool& outer_has_run) {
#pragma omp parallel num_threads(1)
    {
      bool has_run = false;
#pragma omp task depend(inout : outer_has_run) shared(has_run)
      has_run = true;
#pragma omp taskwait
      CHECK(has_run);
    }
  });
}

// A final task's children run as soon as they are made. Tasks of a region within it are not its
// children, so one of a set waits until the other one is complete.
void sets_in_a_final_task() {
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(1)
#pragma omp task final(true)
#pragma omp parallel num_threads(1)
    {
      CHECK(!omp_in_final());
      [[maybe_unused]] char variable;
      bool has_run = false;
      std::optional<omp_test::LateFulfilment> fulfilment;
      omp_event_handle_t event;
#pragma omp task detach(event) depend(mutexinoutset : variable) shared(fulfilment)
      fulfilment.emplace(event);
#pragma omp task depend(mutexinoutset : variable) shared(fulfilment, has_run)
      {
        CHECK(fulfilment->is_done());
        has_run = true;
      }
#pragma omp taskwait
      CHECK(has_run);
    }
  }
}

// What a region sets for itself ends with it.
void settings() {
  beside_a_detached_task([](bool&) {
    const int outer = omp_get_max_threads();
#pragma omp parallel num_threads(1)
    {
      omp_set_num_threads(outer + 3);
      CHECK_EQUAL(omp_get_max_threads(), outer + 3);
      CHECK_EQUAL(omp_get_level(), 2);
    }
    CHECK_EQUAL(omp_get_max_threads(), outer);
    CHECK_EQUAL(omp_get_level(), 1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"taskwaits", taskwaits},
                             {"barriers", barriers},
                             {"regions_in_regions", regions_in_regions},
                             {"dependences", dependences},
                             {"sets_in_a_final_task", sets_in_a_final_task},
                             {"settings", settings}});
}
