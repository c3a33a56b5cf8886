// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace omp_test {

// Prints the stacks of all threads of this process, if gdb is there.
inline void show_stacks() {
  const std::string own_pid = std::to_string(getpid());
  const pid_t debugger = fork();
  if (debugger == 0) {
    sleep(1);  // until the parent has allowed it
    execlp("gdb", "gdb", "--batch", "-nx", "-p", own_pid.c_str(), "-ex", "thread apply all backtrace 20", nullptr);
    _exit(1);
  }
  prctl(PR_SET_PTRACER, debugger);
  waitpid(debugger, nullptr, 0);
}

}  // namespace omp_test
