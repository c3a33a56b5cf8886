// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Destructors run at the end of the process, and other threads of the program go on with their
// regions meanwhile. Each case ends with the exit code of main().

// BUILD: clang -Wl,--no-as-needed -lomp -llate_end
// BUILD: gcc -rdynamic -Wl,--no-as-needed -lgomp -llate_end
// LIBRARY: liblate_end.so
// With KMP_BARRIER unset as well: these are faults of LLVM's.
// TEST: small_regions_go_on forks_go_on two_teams_go_on last_root_ends late_region
//     threads_give_back exit_in_a_region first_region_begins late_first_region
//     late_first_region_of_another
//   CHECK: --repeat 5
// TEST hyper: small_regions_go_on forks_go_on two_teams_go_on last_root_ends late_region
//     threads_give_back exit_in_a_region first_region_begins late_first_region
//     late_first_region_of_another
//   ENV: KMP_BARRIER
//   CHECK: --repeat 5

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

extern "C" void run_late(void (*function)());

namespace {

int small_region(int num_threads) {
  int sum = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : sum)
  sum += 1;
  return sum;
}

// Runs regions in a thread until the process is gone. Returns when it has run some.
template <class Region>
void compute_beside(const Region& region) {
  static std::atomic<int> num_run;
  num_run = 0;
  std::thread([region] {
    for (int i = 0;; ++i) {
      region(i);
      ++num_run;
    }
  }).detach();
  while (num_run < 100) {
  }
}

void nothing() {}

void small_regions_go_on() {
  run_late(nothing);
  compute_beside([](int) { CHECK_EQUAL(small_region(2), 2); });
}

// Of changing sizes, so that teams are made anew.
void forks_go_on() {
  run_late(nothing);
  compute_beside([](int i) { CHECK_EQUAL(small_region(2 + i % 3), 2 + i % 3); });
}

// The initial thread has workers of its own.
void two_teams_go_on() {
  run_late(nothing);
  compute_beside([](int i) { CHECK_EQUAL(small_region(2 + i % 2), 2 + i % 2); });
  CHECK_EQUAL(small_region(3), 3);
}

// A thread ends while the destructors run, and with it the last use of OpenMP.
void last_root_ends() {
  static std::atomic<bool> is_over;
  static std::thread* other;  // never destroyed: it is joined later
  other = new std::thread([] {
    CHECK_EQUAL(small_region(3), 3);
    while (!is_over) {
    }
  });
  run_late([] {
    is_over = true;
    other->join();
  });
}

// In a destructor that runs after the runtime's own.
void late_region() {
  run_late([] { CHECK_EQUAL(small_region(3), 3); });
  CHECK_EQUAL(small_region(3), 3);
}

// Workers give back what they have to a static object, as where buffers are kept for later threads.
// The exiting thread's are destroyed before it, the workers' not at all.
std::map<int, std::vector<double>> kept_buffers;
std::mutex kept_buffers_mutex;

class Buffer {
 public:
  Buffer() : number_(omp_get_thread_num()), values_(1000) {}
  ~Buffer() {
    const std::lock_guard lock(kept_buffers_mutex);
    kept_buffers[number_] = std::move(values_);
  }
  double& first() { return values_[0]; }

 private:
  int number_;
  std::vector<double> values_;
};

void threads_give_back() {
  run_late(nothing);
  for (int i = 0; i < 100; ++i) kept_buffers[i].resize(10);
#pragma omp parallel num_threads(4)
  {
    thread_local Buffer buffer;
    buffer.first() = 1;
  }
}

void exit_in_a_region() {
  run_late(nothing);
  compute_beside([](int) { CHECK_EQUAL(small_region(2), 2); });
#pragma omp parallel num_threads(3)
  {
#pragma omp barrier
#pragma omp master
    std::exit(0);
#pragma omp barrier
  }
}

// ---- the runtime has not been used when the end begins ----

std::atomic<bool> starts_slowly, is_starting, has_started;

// The end waits until the library has started. Its start opens libraries, and under an audit module
// glibc clears variables of all threads when one is opened beside the end.
void first_region_begins() {
  starts_slowly = true;
  std::thread([] {
    small_region(2);
    for (;;) pause();
  }).detach();
  while (!is_starting) usleep(100);
  run_late([] { CHECK(has_started); });
}

void late_first_region() {
  run_late([] { CHECK_EQUAL(small_region(3), 3); });
}

// Another thread lets the end go on first. But this end waits for the thread.
void late_first_region_of_another() {
  run_late([] { std::thread([] { CHECK_EQUAL(small_region(3), 3); }).join(); });
}

}  // namespace

// The runtime asks for a tool when it starts.
extern "C" void* ompt_start_tool(unsigned, const char*) {
  is_starting = true;
  if (starts_slowly) usleep(100'000);
  has_started = true;
  return nullptr;
}

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"small_regions_go_on", small_regions_go_on},
                             {"forks_go_on", forks_go_on},
                             {"two_teams_go_on", two_teams_go_on},
                             {"last_root_ends", last_root_ends},
                             {"late_region", late_region},
                             {"threads_give_back", threads_give_back},
                             {"exit_in_a_region", exit_in_a_region},
                             {"first_region_begins", first_region_begins},
                             {"late_first_region", late_first_region},
                             {"late_first_region_of_another", late_first_region_of_another}});
}
