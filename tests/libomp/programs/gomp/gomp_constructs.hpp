// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The entry points of GCC 17's libgomp for the constructs of a program, and their use as the code
// has it that GCC 17 makes of a construct. So the programs of the tests need no GCC 17.

#include <algorithm>

#include "gomp_versioned.hpp"

// How many threads or teams there are, and the caller's number.
__extension__ typedef __complex__ int PlaceInTeam;

// What GOMP_barrier_ext() is told of a barrier.
enum BarrierKind : unsigned { kOfParallel = 0, kOfWorkshare = 1, kExplicit = 2 };

extern "C" {
VERSIONED(void, GOMP_barrier_ext, "GOMP_6.0.2", unsigned);
VERSIONED(bool, GOMP_barrier_cancel_ext, "GOMP_6.0.2", unsigned);
VERSIONED(bool, GOMP_has_masked_thread_num, "GOMP_6.0.2", int);
VERSIONED(bool, GOMP_has_masked_thread_num_with_end, "GOMP_6.0.2", int);
VERSIONED(void, GOMP_masked_end, "GOMP_6.0.2", void);
VERSIONED(bool, GOMP_single_start_with_end, "GOMP_6.0.2", void);
VERSIONED(void, GOMP_single_end, "GOMP_6.0.2", void);
VERSIONED(void, GOMP_scope_start_with_end, "GOMP_6.0.2", unsigned long*);
VERSIONED(void, GOMP_scope_end, "GOMP_6.0.2", void);
VERSIONED(void, GOMP_reduction_start, "GOMP_6.0.2", void);
VERSIONED(void, GOMP_reduction_end, "GOMP_6.0.2", void);
VERSIONED(PlaceInTeam, GOMP_loop_static_worksharing, "GOMP_6.0.2", unsigned long long);
VERSIONED(PlaceInTeam, GOMP_loop_static_worksharing_start, "GOMP_6.0.2", unsigned long long);
VERSIONED(void, GOMP_loop_static_worksharing_dispatch, "GOMP_6.0.2", unsigned long long,
          unsigned long long);
VERSIONED(void, GOMP_loop_static_worksharing_end, "GOMP_6.0.2", void);
VERSIONED(PlaceInTeam, GOMP_distribute_static_worksharing, "GOMP_6.0.2", unsigned long long);
VERSIONED(PlaceInTeam, GOMP_distribute_static_worksharing_start, "GOMP_6.0.2", unsigned long long);
VERSIONED(void, GOMP_distribute_static_worksharing_dispatch, "GOMP_6.0.2", unsigned long long,
          unsigned long long);
VERSIONED(void, GOMP_distribute_static_worksharing_end, "GOMP_6.0.2", void);

// Of older versions.
VERSIONED(void, GOMP_atomic_start, "GOMP_1.0", void);
VERSIONED(void, GOMP_atomic_end, "GOMP_1.0", void);
VERSIONED(bool, GOMP_cancel, "GOMP_4.0", int, bool);
VERSIONED(void, GOMP_workshare_task_reduction_unregister, "GOMP_5.0", bool);
}

namespace omp_test {

constexpr int kCancelParallel = 1, kCancelLoop = 2;  // for GOMP_cancel()

struct Chunk {
  int begin, end;
};

// The part of a loop of `iterations` that schedule(static) gives to one thread or team.
inline Chunk static_part(int iterations, PlaceInTeam place) {
  const int number = __imag__ place, count = __real__ place;
  const int size = iterations / count, larger = iterations % count;
  const int begin = number * size + std::min(number, larger);
  return {begin, begin + size + (number < larger ? 1 : 0)};
}

// for schedule(static), without the barrier, as with -fopenmp-ompt=extended.
template <class Body>
void reported_loop(int iterations, Body&& body) {
  const Chunk part = static_part(iterations, versioned_GOMP_loop_static_worksharing_start(
                                                 static_cast<unsigned long long>(iterations)));
  if (part.begin < part.end) {
    versioned_GOMP_loop_static_worksharing_dispatch(part.begin, part.end - part.begin);
    for (int i = part.begin; i < part.end; ++i) body(i);
  }
}

// reduction(task, + : sum) of `scope`, as with -fopenmp-ompt=basic. The body adds to its argument.
template <class Body>
void reported_scope(int* sum, Body&& body) {
  constexpr unsigned long kBlockSize = 64;
  unsigned long table[10] = {1, kBlockSize, kBlockSize, ~0UL};
  table[7] = reinterpret_cast<unsigned long>(sum);  // its value is at offset 0 of a block
  versioned_GOMP_scope_start_with_end(table);
  char* const blocks = reinterpret_cast<char*>(table[2]);
  body(*reinterpret_cast<int*>(blocks + omp_get_thread_num() * kBlockSize));
  versioned_GOMP_scope_end();
  versioned_GOMP_barrier_ext(kOfWorkshare);
  if (omp_get_thread_num() == 0)
    for (int thread = 0; thread < omp_get_num_threads(); ++thread)
      *sum += *reinterpret_cast<int*>(blocks + thread * kBlockSize);
  versioned_GOMP_workshare_task_reduction_unregister(false);
}

}  // namespace omp_test
