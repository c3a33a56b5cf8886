// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Target constructs as GCC compiles them. There is no device: regions run here, and a mapped
// variable is the variable itself.

// BUILD: gcc
// TEST: maps distributed_loops
//   CHECK: --counter phased>=50
// TEST: dependences
//   CHECK: --counter slow==50
// TEST: deferred_constructs_do_not_block
//   CHECK: --counter slow==20
// TEST: leagues
//   CHECK: --counter fast==90
// TEST: in_every_thread_of_a_team
//   CHECK: --counter fast==50
// TEST: firstprivate_of_a_deferred_region data_constructs thread_limit device_memory
// The host is the default device, and there is no other one.
// TEST mandatory: maps
//   ENV: OMP_TARGET_OFFLOAD=mandatory
// TEST mandatory: another_device
//   ENV: OMP_TARGET_OFFLOAD=mandatory
//   CHECK: --exit-code -6 --expect "OMP_TARGET_OFFLOAD=.mandatory., but there is no device"

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

void maps() {
  for (int round = 0; round < 50; ++round) {
    int array[100] = {}, sum = 0;
    std::vector<int> values(100, round);
    const int* const data = values.data();
    int private_one = round;
#pragma omp target map(tofrom : array, sum) map(to : data[0 : 100]) firstprivate(private_one)
    {
      CHECK_EQUAL(omp_is_initial_device(), 1);
      CHECK_EQUAL(private_one, round);
      private_one = -1;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
      for (int i = 0; i < 100; ++i) {
        array[i] = data[i] + i;
        sum += array[i];
      }
    }
    CHECK_EQUAL(private_one, round);
    CHECK_EQUAL(sum, 100 * round + 4950);
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(array[i], round + i);
  }
}

// The copies are made when the construct is met, also of what needs an alignment of its own.
void firstprivate_of_a_deferred_region() {
  struct alignas(64) Aligned {
    long numbers[20];
  };
#pragma omp parallel num_threads(4)
  {
    int done = 0;
    Aligned large{};
    char small = 0;
    for (int i = 0; i < 20; ++i) {
      for (long& number : large.numbers) number = i;
      small = static_cast<char>(i);
#pragma omp target nowait firstprivate(large, small, i) map(tofrom : done)
      {
        CHECK_EQUAL(reinterpret_cast<uintptr_t>(&large) % 64, 0);
        for (const long number : large.numbers) CHECK_EQUAL(number, i);
        CHECK_EQUAL(small, i);
#pragma omp atomic
        ++done;
      }
    }
#pragma omp taskwait
    CHECK_EQUAL(done, 20);
#pragma omp barrier
  }
}

// A chain of tasks and target constructs, deferred or not, in the order of their dependences.
void dependences() {
  for (int round = 0; round < 50; ++round) {
    int stage = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task depend(out : stage) shared(stage)
      stage = 1;
#pragma omp target depend(inout : stage) map(tofrom : stage)
      {
        CHECK_EQUAL(stage, 1);
        stage = 2;
      }
      CHECK_EQUAL(stage, 2);
#pragma omp task depend(inout : stage) shared(stage)
      stage = 3;
#pragma omp target enter data map(to : stage) depend(inout : stage)
      CHECK_EQUAL(stage, 3);
#pragma omp target nowait depend(inout : stage) map(tofrom : stage)
      {
        CHECK_EQUAL(stage, 3);
        stage = 4;
      }
#pragma omp target update from(stage) depend(inout : stage) nowait
#pragma omp task depend(inout : stage) shared(stage)
      {
        CHECK_EQUAL(stage, 4);
        stage = 5;
      }
#pragma omp target exit data map(from : stage) depend(in : stage)
      CHECK_EQUAL(stage, 5);
    }
    CHECK_EQUAL(stage, 5);
  }
}

// The event is fulfilled only after the constructs: they must not wait for the task.
void deferred_constructs_do_not_block() {
  for (int round = 0; round < 20; ++round) {
    int order = 0;
    char object = 0;
    (void)object;  // only named in clauses
#pragma omp parallel num_threads(3)
#pragma omp single
    {
      omp_event_handle_t event;
      omp_event_handle_t* const place = &event;
#pragma omp task detach(event) depend(out : object) shared(order) firstprivate(place)
      *place = event;
#pragma omp target nowait depend(inout : object) map(tofrom : order)
      ++order;
#pragma omp target enter data map(to : object) depend(inout : object) nowait
#pragma omp task depend(in : object) shared(order)
      CHECK_EQUAL(++order, 2);
      CHECK_EQUAL(order, 0);
      omp_fulfill_event(*place);
    }
    CHECK_EQUAL(order, 2);
  }
}

void data_constructs() {
  int values[10] = {};
#pragma omp target data map(tofrom : values) use_device_addr(values)
  {
    CHECK_EQUAL(omp_target_is_present(values, omp_get_initial_device()), 1);
    int* const here = values;
#pragma omp target is_device_ptr(here)
    for (int i = 0; i < 10; ++i) here[i] = i;
#pragma omp target update from(values)
    for (int i = 0; i < 10; ++i) CHECK_EQUAL(values[i], i);
#pragma omp target map(values)
    values[0] = 7;
  }
  CHECK_EQUAL(values[0], 7);
#pragma omp target parallel for num_threads(4) map(values)
  for (int i = 0; i < 10; ++i) values[i] *= 2;
  CHECK_EQUAL(values[9], 18);
}

// All teams run, each with its threads, and each knows its number.
void leagues() {
  for (int round = 0; round < 40; ++round) {
    const int num_teams = 1 + round % 5, num_threads = 1 + round / 5 % 4;
    int runs[5] = {}, threads[5] = {};
#pragma omp target teams num_teams(num_teams) thread_limit(num_threads) map(runs, threads)
    {
      CHECK_EQUAL(omp_get_num_teams(), num_teams);
      const int team = omp_get_team_num();
      ++runs[team];
#pragma omp parallel num_threads(8)
      {
        CHECK_EQUAL(omp_get_thread_limit(), num_threads);
        CHECK_EQUAL(omp_get_num_threads(), num_threads);
        CHECK_EQUAL(omp_get_num_teams(), num_teams);
        CHECK_EQUAL(omp_get_team_num(), team);
#pragma omp atomic
        ++threads[team];
#pragma omp barrier
        CHECK_EQUAL(threads[team], num_threads);
      }
    }
    CHECK_EQUAL(omp_get_num_teams(), 1);
    for (int team = 0; team < 5; ++team) {
      CHECK_EQUAL(runs[team], team < num_teams ? 1 : 0);
      CHECK_EQUAL(threads[team], team < num_teams ? num_threads : 0);
    }
  }
}

void distributed_loops() {
  for (int round = 0; round < 40; ++round) {
    int visits[1000] = {};
    long sum = 0;
#pragma omp target teams distribute parallel for num_teams(1 + round % 5) thread_limit(4) \
    map(visits) reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) {
      ++visits[i];
      sum += i;
    }
    CHECK_EQUAL(sum, 999 * 500);
    for (const int count : visits) CHECK_EQUAL(count, 1);
  }
}

void in_every_thread_of_a_team() {
  std::atomic<int> runs{0};
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 50; ++round) {
    int mine = omp_get_thread_num();
#pragma omp target teams num_teams(2) map(tofrom : mine)
    ++mine;
    CHECK_EQUAL(mine, omp_get_thread_num() + 2);
    ++runs;
#pragma omp barrier
  }
  CHECK_EQUAL(runs.load(), 200);
}

void another_device() {
#pragma omp target device(5)
  CHECK_EQUAL(omp_is_initial_device(), 1);
}

void thread_limit() {
  const int before = omp_get_thread_limit();
  int threads = 0;
#pragma omp target parallel thread_limit(2) num_threads(4) map(from : threads)
  {
#pragma omp single
    threads = omp_get_num_threads();
  }
  CHECK_EQUAL(threads, 2);
  CHECK_EQUAL(omp_get_thread_limit(), before);
}

void device_memory() {
  const int host = omp_get_initial_device();
  CHECK(omp_target_alloc(8, host + 3) == nullptr);
  int* const from = static_cast<int*>(omp_target_alloc(24 * sizeof(int), host));
  int* const to = static_cast<int*>(omp_target_alloc(24 * sizeof(int), host));
  for (int i = 0; i < 24; ++i) {
    from[i] = i;
    to[i] = -1;
  }
  CHECK_EQUAL(
      omp_target_memcpy(to, from, 2 * sizeof(int), 3 * sizeof(int), sizeof(int), host, host), 0);
  CHECK_EQUAL(to[3], 1);
  CHECK_EQUAL(to[4], 2);
  CHECK_EQUAL(to[5], -1);
  CHECK(omp_target_memcpy(to, from, 4, 0, 0, host + 3, host) != 0);
  // A box of 1 x 2 x 2 out of 2 x 3 x 4 into 2 x 4 x 3.
  const size_t volume[] = {1, 2, 2}, to_offsets[] = {0, 2, 1}, from_offsets[] = {1, 1, 2},
               to_dims[] = {2, 4, 3}, from_dims[] = {2, 3, 4};
  CHECK_EQUAL(omp_target_memcpy_rect(to, from, sizeof(int), 3, volume, to_offsets, from_offsets,
                                     to_dims, from_dims, host, host),
              0);
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      CHECK_EQUAL(to[(2 + row) * 3 + 1 + column], 12 + (1 + row) * 4 + 2 + column);
    }
  }
  CHECK(omp_target_memcpy_rect(nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr,
                               host, host) >= 3);
  CHECK(omp_target_memcpy_rect(to, from, 4, 3, volume, to_offsets, from_offsets, to_dims, from_dims,
                               host, host + 3) != 0);
  CHECK(omp_target_memcpy_rect(to, from, SIZE_MAX / 2, 3, volume, to_offsets, from_offsets, to_dims,
                               from_dims, host, host) != 0);
  CHECK(omp_target_associate_ptr(to, from, 4, 0, host) != 0);
  CHECK(omp_target_disassociate_ptr(to, host) != 0);
  omp_target_free(from, host);
  omp_target_free(to, host);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"maps", maps},
       {"firstprivate_of_a_deferred_region", firstprivate_of_a_deferred_region},
       {"dependences", dependences},
       {"deferred_constructs_do_not_block", deferred_constructs_do_not_block},
       {"data_constructs", data_constructs},
       {"leagues", leagues},
       {"distributed_loops", distributed_loops},
       {"in_every_thread_of_a_team", in_every_thread_of_a_team},
       {"another_device", another_device},
       {"thread_limit", thread_limit},
       {"device_memory", device_memory}});
}
