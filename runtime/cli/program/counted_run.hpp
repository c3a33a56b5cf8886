// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/result.hpp"
#include "base/served_file.hpp"
#include "cli/program/program.hpp"
#include "cli/program/taken_signals.hpp"

namespace hierbar {

// ---- what was served ----

// Barriers of a program's processes on this node: those that hierbar served, and those that went to
// the library's own. The processes are those that ended normally and had loaded hierbar's library.
struct ServedBarriers {
  struct Count {
    std::uint32_t num_processes = 0;
    std::uint64_t num_served = 0;
    std::uint64_t num_others = 0;
  };
  Count openmp;
  Count mpi;
  // Calls with data, in the order of kDataCallsOfMpi, with HIERBAR_MPI=collectives. Their processes
  // are those of `mpi`.
  std::array<Count, std::size(kDataCallsOfMpi)> mpi_data;
  std::string other_runtime;  // an OpenMP runtime that a process has loaded beside hierbar's

  std::uint64_t num_served() const {
    std::uint64_t number = openmp.num_served + mpi.num_served;
    for (const Count& count : mpi_data) number += count.num_served;
    return number;
  }

  ServedBarriers& operator+=(const ServedBarriers& other);
};

// "OpenMP: 50 barriers served in 2 processes, 1 left to the runtime's own; MPI: ...". Requires that
// barriers were served.
std::string describe_served(const ServedBarriers& barriers);

// A temporary file to which the processes of one run add their lines (see base/served_file.hpp). It
// goes with this object. If it cannot be made, `problem()` is not empty.
class ServedBarriersFile {
 public:
  ServedBarriersFile();
  ~ServedBarriersFile();
  ServedBarriersFile(const ServedBarriersFile&) = delete;
  ServedBarriersFile& operator=(const ServedBarriersFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  // What the processes that have ended by now have added.
  ServedBarriers read() const;

 private:
  std::string path_;
  std::string problem_;
};

// ---- the run ----

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
