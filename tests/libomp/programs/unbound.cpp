// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// No thread is moved to a cpu of its own where none is bound: whoever moves to a cpu waits there
// for those who run on it, and on a large node visits hundreds. Where threads are bound, and where
// verbose affinity shows the machine, libomp has to know which cpus are of one core.

// BUILD: clang
// BUILD: gcc
// NEEDS: native
// TEST: stays
// TEST as_run: stays
//   ENV: KMP_AFFINITY=granularity=core,compact,reset HIERBAR_PRIMARY=free HIERBAR_BIND=share
// TEST: has_places
//   ENV: OMP_PLACES=threads
// TEST shown: goes
//   ENV: KMP_AFFINITY=verbose
// TEST subset: goes
//   ENV: KMP_HW_SUBSET=1s

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>

#include "tests/libomp/programs/check.hpp"

namespace {

std::atomic<int> num_moves{0};

void count_move(long length, const void* mask) {
  const auto* const bytes = static_cast<const unsigned char*>(mask);
  int num_cpus = 0;
  for (long i = 0; i < length; ++i) num_cpus += __builtin_popcount(bytes[i]);
  if (num_cpus == 1) ++num_moves;
}

}  // namespace

// In place of the C library's, for libomp.
extern "C" long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_sched_setaffinity)
    count_move(arguments[1], reinterpret_cast<const void*>(arguments[2]));
  using Call = long (*)(long, ...);
  static const Call call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
  return call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}

namespace {

int allowed_cpus() {
  cpu_set_t set;
  CHECK_EQUAL(sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

void run_regions() {
  if (allowed_cpus() == 1) std::_Exit(omp_test::kSkipped);
  for (int num_threads = 1; num_threads <= 6; ++num_threads) {
    std::atomic<int> count{0};
#pragma omp parallel num_threads(num_threads)
    {
#pragma omp barrier
      ++count;
    }
    CHECK_EQUAL(count.load(), num_threads);
  }
}

void stays() {
  run_regions();
  CHECK_EQUAL(num_moves.load(), 0);
  CHECK_EQUAL(omp_get_num_places(), 1);
  CHECK_EQUAL(omp_get_num_procs(), allowed_cpus());
}

void has_places() {
  run_regions();
  CHECK_EQUAL(omp_get_num_places(), omp_get_num_procs());
  CHECK(num_moves > 0);
}

void goes() {
  run_regions();
#ifdef __x86_64__  // where each cpu is asked
  CHECK(num_moves > 0);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"stays", stays}, {"has_places", has_places}, {"goes", goes}});
}
