// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "cli/program/program.hpp"

namespace hierbar {

// What a launcher may need besides the time of what it launches.
inline constexpr double kForTheLauncher_s = 60;

// How a program ended that printed lines for this process.
struct WorkerEnd {
  std::string problem;        // it could not be started, or was stopped at the deadline
  int exit_code = 0;          // its own, or 128 and the number of the signal that ended it
  bool was_finished = false;  // the listener had all that it needs, and the program was not waited for any longer
};

// Whoever listens to the program's lines.
struct WorkerListener {
  std::function<void(const std::string& line)> on_line;
  std::function<bool()> has_all;    // asked after each line
  std::function<bool()> must_stop;  // asked a few times a second
};

// Runs a program in a process group of its own and gives each line of its output to the listener.
// It is ended (SIGTERM, then SIGKILL) when it runs for longer than `limit_s`, when the listener
// wants that, or when it has not ended some seconds after the listener had all: MPI libraries may
// hang in MPI_Finalize.
WorkerEnd run_worker(const Program& program, double limit_s, const WorkerListener& listener);

}  // namespace hierbar
