// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/program/program.hpp"
#include "cli/program/served_barriers.hpp"

namespace hierbar {

struct CountedRun {
  int exit_code = 0;  // the program's, or 128 and the number of the signal that ended it
  int signal = 0;     // that number; 0 if it ended by itself
  ServedBarriers barriers;
  double wall_seconds = 0;  // from the start of the process to its end
  double cpu_seconds = 0;   // of it and of the children that it has waited for
};

// What a child has in place of what this process has.
struct ChildSetting {
  std::vector<std::pair<std::string, std::string>> variables;  // names and values
  // File descriptors that become its stdin, stdout and stderr; -1: this process's.
  int input = -1;
  int output = -1;
  int errors = -1;
};

// Runs programs as children of this process, one at a time, and waits for their ends. While it
// lives, signals that ask this process to end are passed on to the child, and have no other effect:
// who uses it looks at asked_to_end(). The process must have one thread.
class ProgramRunner {
 public:
  ProgramRunner();
  ~ProgramRunner();
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Reads the counts from a temporary file (see base/served_file.hpp).
  // Errors: no process or no temporary file can be made.
  Result<CountedRun> run(const Program& program, const ChildSetting& setting = {});

  // The first of SIGHUP, SIGINT, SIGQUIT and SIGTERM that has come since the construction; 0: none.
  int asked_to_end();

 private:
  void give_back_signals() const;
  void note(int signal);
  Result<int> wait_for(pid_t child, double& cpu_seconds);

  sigset_t taken_{};
  sigset_t mask_before_{};
  struct sigaction child_action_before_{};
  int asked_to_end_ = 0;
};

}  // namespace hierbar
