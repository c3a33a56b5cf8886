// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

// What the programs of this folder and below share. They are no GoogleTest programs: they are
// compiled by other compilers than the rest of the project, some of them end by exit() in a worker,
// fork or load libraries, and each runs in a process and with variables of its own, for which
// run_omp_test.py is there.

// Ends the process at once when the condition is false; may be used in any thread.
#define CHECK(condition) ((condition) ? (void)0 : omp_test::fail(__FILE__, __LINE__, #condition))

// For integers: the message shows both values.
#define CHECK_EQUAL(actual, expected)                                                \
  omp_test::check_equal(__FILE__, __LINE__, #actual, static_cast<long long>(actual), \
                        static_cast<long long>(expected))

namespace omp_test {

// The exit code of a program that cannot run here. It says why on its standard output.
constexpr int kSkipped = 77;

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
  std::_Exit(1);  // not exit(): the other threads of a team may wait for this one
}

inline void check_equal(const char* file, int line, const char* what, long long actual,
                        long long expected) {
  if (actual == expected) return;
  std::fprintf(stderr, "%s:%d: CHECK failed: %s is %lld, not %lld\n", file, line, what, actual,
               expected);
  std::_Exit(1);
}

// One behaviour. A program runs the case that its first argument names.
struct Case {
  const char* name;
  void (*run)();
};

inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s CASE, where CASE is one of\n", argv[0]);
  for (const Case& one : cases) std::fprintf(stderr, "  %s\n", one.name);
  return 2;
}

#ifdef _OPENMP

// Runs the body in every thread of teams of `smallest` to `largest` threads, num_rounds times each:
// body(thread, round, size).
template <class Body>
void in_every_team(int smallest, int largest, int num_rounds, Body&& body) {
  for (int num_threads = smallest; num_threads <= largest; ++num_threads) {
#pragma omp parallel num_threads(num_threads)
    for (int round = 0; round < num_rounds; ++round) body(omp_get_thread_num(), round, num_threads);
  }
}

// In all threads of a team. After the first barrier that many tasks are done; after the last one
// they are counted from 0 again.
inline void expect_done(std::atomic<int>& done, int expected) {
#pragma omp barrier
  CHECK_EQUAL(done.load(), expected);
#pragma omp barrier
  if (omp_get_thread_num() == 0) done = 0;
#pragma omp barrier
}

#endif  // _OPENMP

// Prints the stacks of all threads of this process, if gdb is there.
inline void show_stacks() {
  const std::string own_pid = std::to_string(getpid());
  const pid_t debugger = fork();
  if (debugger == 0) {
    sleep(1);  // until the parent has allowed it
    execlp("gdb", "gdb", "--batch", "-nx", "-p", own_pid.c_str(), "-ex",
           "thread apply all backtrace 20", nullptr);
    _exit(1);
  }
  prctl(PR_SET_PTRACER, debugger);
  waitpid(debugger, nullptr, 0);
}

}  // namespace omp_test
