// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program that binds its threads itself, in the way of vLLM's CPU worker: it sets the number of
// threads to that of its cpus, and in a loop with one iteration for each thread each binds itself.
// Regions as those of a decoder follow. The threads stay where they were put, and the results are
// those of one thread. The last tests have the settings of `hierbar run`.

// BUILD: clang
// BUILD: gcc
// NEEDS: native
// TEST: in_order reversed bound_twice
//   CHECK: --counter lean>=150
// TEST as_run: in_order reversed bound_twice
//   ENV: KMP_AFFINITY=granularity=core,compact,reset HIERBAR_PRIMARY=free HIERBAR_BIND=share
//   CHECK: --counter lean>=150
// TEST as_run_alone: in_order reversed bound_twice
//   ENV: KMP_AFFINITY=granularity=core,compact,reset HIERBAR_PRIMARY=free HIERBAR_BIND=always
//   CHECK: --counter lean>=150

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kMostCpus = 8;
constexpr int kTokens = 50;
constexpr int kLayers = 4;
constexpr int kWidth = 512;

// At least two, so that there is a team: where there is one cpu, that twice.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CHECK_EQUAL(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < kMostCpus; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  if (cpus.size() == 1) cpus.push_back(cpus[0]);
  return cpus;
}

// Thread i of each later team gets cpus[i].
void bind_threads(const std::vector<int>& cpus) {
  const int num_cpus = static_cast<int>(cpus.size());
  const int* const data = cpus.data();
  omp_set_num_threads(num_cpus);
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < num_cpus; ++i) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(data[i], &set);
    CHECK_EQUAL(sched_setaffinity(0, sizeof set, &set), 0);
  }
}

void check_binding(const std::vector<int>& cpus) {
  const int* const data = cpus.data();
#pragma omp parallel
  {
    cpu_set_t set;
    CHECK_EQUAL(sched_getaffinity(0, sizeof set, &set), 0);
    CHECK_EQUAL(CPU_COUNT(&set), 1);
    CHECK(CPU_ISSET(data[omp_get_thread_num()], &set));
  }
}

// The tokens' layers, one region each, with a barrier between its two loops. Unsigned numbers, so
// that the order of additions does not matter.
unsigned decode() {
  std::vector<unsigned> state(kWidth), next(kWidth);
  for (int i = 0; i < kWidth; ++i) state[i] = 2654435761U * static_cast<unsigned>(i + 1);
  unsigned* const from = state.data();
  unsigned* const to = next.data();
  unsigned total = 0;
  for (int step = 0; step < kTokens * kLayers; ++step) {
    unsigned sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for
      for (int i = 0; i < kWidth; ++i) to[i] = 31 * from[i] + from[(i + 97) % kWidth];
#pragma omp for
      for (int i = 0; i < kWidth; ++i) {
        from[i] = to[kWidth - 1 - i] + 1;
        sum += from[i];
      }
    }
    total = 33 * total + sum;
  }
  return total;
}

void check_decode(const std::vector<int>& cpus) {
  bind_threads(cpus);
  const unsigned in_parallel = decode();
  check_binding(cpus);
  omp_set_num_threads(1);
  CHECK_EQUAL(decode(), in_parallel);
}

void in_order() { check_decode(allowed_cpus()); }

void reversed() {
  std::vector<int> cpus = allowed_cpus();
  std::reverse(cpus.begin(), cpus.end());
  check_decode(cpus);
}

void bound_twice() {
  std::vector<int> cpus = allowed_cpus();
  bind_threads(cpus);
  std::reverse(cpus.begin(), cpus.end());
  check_decode(cpus);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(
      argc, argv, {{"in_order", in_order}, {"reversed", reversed}, {"bound_twice", bound_twice}});
}
