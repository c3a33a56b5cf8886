// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/result.hpp"
#include "cli/program/program.hpp"
#include "cli/program/served_barriers.hpp"
#include "cli/program/taken_signals.hpp"

namespace hierbar {

struct CountedRun {
  int exit_code = 0;  // the program's, or 128 and the number of the signal that ended it
  int signal = 0;     // that number; 0 if it ended by itself
  ServedBarriers barriers;
  double wall_seconds = 0;  // from the start of the process to its end
  double cpu_seconds = 0;   // of it and of the children that it has waited for
};

// Runs programs as children of this process, one at a time, and waits for their ends. While it
// lives, signals that ask this process to end are passed on to the child, and have no other effect:
// who uses it looks at asked_to_end(). The process must have one thread.
class ProgramRunner {
 public:
  // Reads the counts from a temporary file (see base/served_file.hpp).
  // Errors: no process or no temporary file can be made.
  Result<CountedRun> run(const Program& program, const ChildSetting& setting = {});

  // The first of SIGHUP, SIGINT, SIGQUIT and SIGTERM that has come since the construction; 0: none.
  int asked_to_end();

 private:
  void note(int signal);
  Result<int> wait_for(pid_t child, double& cpu_seconds);

  TakenSignals signals_;
  int asked_to_end_ = 0;
};

}  // namespace hierbar
