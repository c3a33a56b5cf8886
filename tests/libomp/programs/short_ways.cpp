// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls that have nothing to wait for: how many instructions they take, and that they do what they
// are for where something has to know of them.

// BUILD: clang
// BUILD: gcc
// NEEDS: native
// TEST: instructions after_the_library_has_ended
// TEST: checked_program
//   ENV: KMP_CONSISTENCY_CHECK=all

#include <omp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/libomp/programs/check.hpp"

namespace {

omp_lock_t lock;
volatile int entered = 0;

[[gnu::noinline]] void call_barrier() {
#pragma omp barrier
}
[[gnu::noinline]] void enter_critical() {
#pragma omp critical
  entered = entered + 1;
}
[[gnu::noinline]] void enter_named_critical() {
#pragma omp critical(one)
  entered = entered + 1;
}
[[gnu::noinline]] void take_lock() {
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
}
[[gnu::noinline]] void ask_max_threads() { omp_get_max_threads(); }
[[gnu::noinline]] void ask_num_threads() { omp_get_num_threads(); }

#ifdef __x86_64__
volatile sig_atomic_t num_steps = 0;

void count_step(int, siginfo_t*, void*) { num_steps = num_steps + 1; }

// Sets or clears the flag that makes the processor trap after each instruction.
[[gnu::always_inline]] inline void step(bool on) {
  if (on)
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "cc", "memory");
  else
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "cc", "memory");
}

int instructions_of(void (*body)()) {
  body();  // the loader has found what it calls
  num_steps = 0;
  step(true);
  body();
  step(false);
  return num_steps;
}

// Clang's programs ask for the thread's number first.
#ifdef __clang__
constexpr int kAsks = 18;
#else
constexpr int kAsks = 0;
#endif

// A fifth above what they take today. With the registers saved that only the long way needs, or the
// thread's number found by a call, each is above it.
void check_instructions() {
  struct {
    const char* name;
    void (*body)();
    int most;
  } const cases[] = {
      {"barrier", call_barrier, 50 + kAsks},       {"critical", enter_critical, 75 + kAsks},
      {"named", enter_named_critical, 75 + kAsks}, {"lock", take_lock, 70},
      {"max threads", ask_max_threads, 42},        {"num threads", ask_num_threads, 33},
  };
  bool is_good = true;
  for (const auto& one : cases) {
    const int num_instructions = instructions_of(one.body);
    std::fprintf(stderr, "%s: %d instructions, at most %d\n", one.name, num_instructions, one.most);
    is_good = is_good && num_instructions <= one.most;
  }
  CHECK(is_good);
}
#endif

// Outside a region, and in one of one thread.
void instructions() {
#ifdef __x86_64__
  struct sigaction action = {};
  action.sa_sigaction = count_step;
  action.sa_flags = SA_SIGINFO;
  CHECK_EQUAL(sigaction(SIGTRAP, &action, nullptr), 0);
  omp_init_lock(&lock);
  check_instructions();
#pragma omp parallel num_threads(1)
  check_instructions();
#else
  std::exit(omp_test::kSkipped);
#endif
}

// A thread's number outlives the library that gave it.
void after_the_library_has_ended() {
  omp_init_lock(&lock);
  for (int round = 0; round < 3; ++round) {
    int num_threads = 0;
#pragma omp parallel num_threads(3)
    {
      call_barrier();
#pragma omp atomic
      ++num_threads;
    }
    CHECK_EQUAL(num_threads, 3);
    omp_set_num_threads(5 + round);
    CHECK_EQUAL(omp_get_max_threads(), 5 + round);
    CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0);
    switch (round) {
      case 0:
        call_barrier();
        break;
      case 1:
        CHECK(omp_get_max_threads() > 0);
        break;
      default:
        enter_critical();
    }
    take_lock();
    CHECK_EQUAL(omp_get_num_threads(), 1);
  }
}

// Returns whether the child ended in another way than by itself.
template <class Body>
bool is_stopped(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    std::_Exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void nest_barrier_in_critical() {
#pragma omp parallel num_threads(1)
#pragma omp critical
  call_barrier();
}

// libomp stops what is nested wrongly, which it can only if it is told of what is right.
void checked_program() {
  CHECK(!is_stopped(enter_critical));
  CHECK(!is_stopped(call_barrier));
  CHECK(is_stopped(nest_barrier_in_critical));
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"instructions", instructions},
                             {"after_the_library_has_ended", after_the_library_has_ended},
                             {"checked_program", checked_program}});
}
