// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Says, on one line, who launched this process: "launcher=Slurm local_rank=0 local_size=2 assumed=0 job_key=...", or "error:
// ...". For real_launcher_test.py, which has real launchers run it.

#include <unistd.h>

#include <cstdio>
#include <string>

#include "placement/environment.hpp"
#include "placement/launcher.hpp"

int main() {
  const auto launch = hierbar::find_launch(hierbar::own_environment(), hierbar::own_process_facts());
  const std::string line = launch
                               ? "launcher=" + launch->launcher + " local_rank=" + std::to_string(launch->local_rank) +
                                     " local_size=" + std::to_string(launch->local_size) +
                                     " assumed=" + std::to_string(launch->size_is_assumed) + " job_key=" + launch->job_key + "\n"
                               : "error: " + launch.error() + "\n";
  return write(STDOUT_FILENO, line.data(), line.size()) < 0 ? 1 : 0;  // at once: launchers cut what is written in pieces
}
