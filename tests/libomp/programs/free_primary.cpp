// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HIERBAR_PRIMARY=free: the thread that begins regions is moved to its place when it is elsewhere,
// and keeps all cpus, as do the threads and processes that it starts.

// BUILD: clang
// NEEDS: native
// TEST: keeps_all_cpus alone_stays_where_it_is with_a_team_returns_to_its_place
//     stays_where_the_program_binds_it another_thread_asks_first forked_child
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset
// TEST lean: with_a_team_returns_to_its_place
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset HIERBAR_REGION=on
//   CHECK: --counter lean>=100
// TEST: nothing_is_bound
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset HIERBAR_BIND=share
//   CHECK: --expect "place: no-launcher"
// TEST always: keeps_all_cpus
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset HIERBAR_BIND=always
// TEST bad_bind: keeps_all_cpus
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset HIERBAR_BIND=x
//   CHECK: --expect "Warning.*HIERBAR_BIND.*x.*always, share.*using always"
// TEST without_reset: is_bound
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact
// TEST bad: is_bound
//   ENV: HIERBAR_PRIMARY=x KMP_AFFINITY=granularity=core,compact,reset
//   CHECK: --expect "Warning.*HIERBAR_PRIMARY.*x.*bound, free.*using bound"

#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

cpu_set_t own_cpus() {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

const cpu_set_t all_cpus = own_cpus();  // before libomp does anything

bool are_all(const cpu_set_t& set) { return CPU_EQUAL(&set, &all_cpus); }

void expect_all_in_a_new_thread() {
  std::thread([] { CHECK(are_all(own_cpus())); }).join();
}

// One that is not in the place of the primary, which is the first.
int last_cpu() {
  int cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(cpu, &all_cpus)) --cpu;
  return cpu;
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

bool is_at_place() {
  std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(omp_get_place_num())));
  omp_get_place_proc_ids(omp_get_place_num(), cpus.data());
  for (int cpu : cpus) {
    if (cpu == sched_getcpu()) return true;
  }
  return false;
}

void keeps_all_cpus() {
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
        CHECK(are_all(own_cpus()));
        if (i % 50 == 0) expect_all_in_a_new_thread();
      } else {
        CHECK(!are_all(own_cpus()));
      }
    }
    CHECK(are_all(own_cpus()));
  }
  expect_all_in_a_new_thread();
}

// The kernel may move a thread with all cpus again at any time, so some regions may find it
// elsewhere; without the move, nearly all would.
void returns_to_its_place(int num_threads) {
  int num_at_place = 0, num_moved = 0;
  for (int i = 0; i < 200; ++i) {
    bind_to(last_cpu());
    CHECK(sched_setaffinity(0, sizeof all_cpus, &all_cpus) == 0);
#pragma omp parallel num_threads(num_threads)
    if (omp_get_thread_num() == 0) {
      num_at_place += is_at_place();
      num_moved += are_all(own_cpus());
    }
  }
  std::printf("%d of 200 regions at their place\n", num_at_place);
  CHECK(num_at_place > 100);
  CHECK_EQUAL(num_moved, 200);
}

void with_a_team_returns_to_its_place() { returns_to_its_place(2); }

// A team of one waits for nobody, and another process may be at its place.
void alone_stays_where_it_is() {
  int num_stayed = 0;
  for (int i = 0; i < 200; ++i) {
    bind_to(last_cpu());
    CHECK(sched_setaffinity(0, sizeof all_cpus, &all_cpus) == 0);
#pragma omp parallel num_threads(1)
    num_stayed += sched_getcpu() == last_cpu();
  }
  std::printf("%d of 200 regions where they were\n", num_stayed);
  CHECK(num_stayed > 100);
}

// HIERBAR_BIND=share, and nothing gives this process cpus of its own.
void nothing_is_bound() {
  for (int num_threads : {2, 1, 3}) {
#pragma omp parallel num_threads(num_threads)
    {
      CHECK(are_all(own_cpus()));
      CHECK_EQUAL(omp_get_proc_bind(), omp_proc_bind_false);
    }
  }
  std::thread([] {
#pragma omp parallel num_threads(2)
    CHECK(are_all(own_cpus()));
  }).join();
  bind_to(last_cpu());
  const cpu_set_t bound = own_cpus();
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    const cpu_set_t now = own_cpus();
    CHECK(CPU_EQUAL(&now, &bound));
  }
}

void stays_where_the_program_binds_it() {
  keeps_all_cpus();
  bind_to(last_cpu());
  const cpu_set_t bound = own_cpus();
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      const cpu_set_t now = own_cpus();
      CHECK(CPU_EQUAL(&now, &bound));
    }
  }
}

// Places are handed out by the numbers of threads in the process, so this one's number is between
// those of the team.
void another_thread_asks_first() {
  if (CPU_COUNT(&all_cpus) < 2) std::exit(omp_test::kSkipped);
  CHECK(omp_get_max_threads() > 0);
  std::atomic<int> step{0};
  std::thread other([&step] {
    CHECK(omp_get_max_threads() > 0);
    step = 1;
    step.notify_one();
    step.wait(1);
  });
  step.wait(0);
  int places[2] = {-1, -1};
#pragma omp parallel num_threads(2)
  places[omp_get_thread_num()] = omp_get_place_num();
  step = 2;
  step.notify_one();
  other.join();
  CHECK(places[0] != places[1]);
}

void forked_child() {
  keeps_all_cpus();
  const pid_t child = fork();
  if (child == 0) {
    CHECK(are_all(own_cpus()));
    keeps_all_cpus();
    _exit(7);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

// Where the setting does not apply.
void is_bound() {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) CHECK(!are_all(own_cpus()));
}

}  // namespace

int main(int argc, char** argv) {
  if (CPU_COUNT(&all_cpus) < 2) {
    std::printf("Skipped: there is one cpu\n");
    return omp_test::kSkipped;
  }
  return omp_test::run_case(argc, argv,
                            {{"keeps_all_cpus", keeps_all_cpus},
                             {"another_thread_asks_first", another_thread_asks_first},
                             {"alone_stays_where_it_is", alone_stays_where_it_is},
                             {"nothing_is_bound", nothing_is_bound},
                             {"with_a_team_returns_to_its_place", with_a_team_returns_to_its_place},
                             {"stays_where_the_program_binds_it", stays_where_the_program_binds_it},
                             {"forked_child", forked_child},
                             {"is_bound", is_bound}});
}
