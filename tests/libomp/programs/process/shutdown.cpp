// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The end of the process, of a thread, or of the runtime (omp_pause_resource), while other threads
// sleep or spin somewhere. Every case must end promptly and with the exit code that the caller of
// run_omp_test.py expects.

// BUILD: clang
// TEST blocktime_{}: workers_sleep_when_main_returns main_returns_at_once
//     roots_end_before_the_process
//   EACH: 0 200 infinite
//   ENV: KMP_BLOCKTIME={}
//   CHECK: --counter reports==1
// TEST blocktime_{}: pause_and_use_again
//   EACH: 0 200 infinite
//   ENV: KMP_BLOCKTIME={}
// TEST blocktime_{}: exit_by_the_primary_inside_a_region exit_by_a_worker_while_others_wait
//     exit_by_a_worker_in_a_task main_returns_while_another_root_works
//   EACH: 0 200 infinite
//   ENV: KMP_BLOCKTIME={}
//   CHECK: --exit-code 3

#include <omp.h>

#include <chrono>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

void sleep_ms(int duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

void region(int num_threads) {
  std::vector<long> slots(num_threads);
  long* const slot = slots.data();
#pragma omp parallel num_threads(num_threads)
  for (long crossing = 1; crossing <= 5; ++crossing) {
    slot[omp_get_thread_num()] = crossing;
#pragma omp barrier
    for (int i = 0; i < num_threads; ++i) CHECK_EQUAL(slot[i], crossing);
#pragma omp barrier
  }
}

// Under KMP_BLOCKTIME=0 the workers sleep when main returns.
void workers_sleep_when_main_returns() {
  region(6);
  sleep_ms(50);
}

void main_returns_at_once() { region(6); }

void exit_by_the_primary_inside_a_region() {
#pragma omp parallel num_threads(5)
  {
#pragma omp barrier
#pragma omp master
    std::exit(3);
#pragma omp barrier
  }
}

// The others wait in the barrier, asleep under KMP_BLOCKTIME=0, for the one that leaves.
void exit_by_a_worker_while_others_wait() {
#pragma omp parallel num_threads(5)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 3) {
      sleep_ms(30);
      std::exit(3);
    }
#pragma omp barrier
  }
}

void exit_by_a_worker_in_a_task() {
#pragma omp parallel num_threads(4)
  {
#pragma omp single nowait
#pragma omp task
    {
      sleep_ms(30);
      std::exit(3);
    }
#pragma omp barrier
  }
}

// Soft: the threads go to sleep, whatever the blocktime. Hard: libomp is taken down and starts
// again.
void pause_and_use_again() {
  const int host = omp_get_initial_device();
  for (int round = 0; round < 6; ++round) {
    region(2 + round % 5);
    CHECK_EQUAL(omp_pause_resource(round % 2 == 0 ? omp_pause_soft : omp_pause_hard, host), 0);
    if (round % 3 == 0) sleep_ms(20);
  }
  region(4);
}

// Roots that end leave their workers to the pool, from where other roots take them.
void roots_end_before_the_process() {
  for (int round = 0; round < 4; ++round) {
    std::thread first([] { region(5); });
    std::thread second([] { region(3); });
    first.join();
    region(7);
    second.join();
  }
  std::thread last([] { region(6); });
  last.join();
}

// A root that still waits in its region, for a worker that sleeps, when main returns.
void main_returns_while_another_root_works() {
  std::thread other([] {
#pragma omp parallel num_threads(3)
    {
      if (omp_get_thread_num() == 1) sleep_ms(60000);
#pragma omp barrier
    }
  });
  other.detach();
  region(3);
  sleep_ms(50);
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"workers_sleep_when_main_returns", workers_sleep_when_main_returns},
       {"main_returns_at_once", main_returns_at_once},
       {"exit_by_the_primary_inside_a_region", exit_by_the_primary_inside_a_region},
       {"exit_by_a_worker_while_others_wait", exit_by_a_worker_while_others_wait},
       {"exit_by_a_worker_in_a_task", exit_by_a_worker_in_a_task},
       {"pause_and_use_again", pause_and_use_again},
       {"roots_end_before_the_process", roots_end_before_the_process},
       {"main_returns_while_another_root_works", main_returns_while_another_root_works}});
}
