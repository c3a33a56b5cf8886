// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/libomp/programs/check.hpp"

namespace omp_test {

// What the child of fork_and() returns when all went well.
constexpr int kChildIsFine = 7;

// Forks; the child runs the body and ends by exit(), so that libomp cleans up there as well.
template <class Body>
pid_t fork_and(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    std::exit(kChildIsFine);
  }
  return child;
}

inline void expect_good_end(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), kChildIsFine);
}

}  // namespace omp_test
