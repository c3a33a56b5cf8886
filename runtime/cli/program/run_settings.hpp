// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"

namespace hierbar {

// The libraries that programs load, in this installation or build tree. Empty if a library is
// missing.
struct Libraries {
  std::string openmp_directory;  // of the runtime to preload and of its other names
  std::string openmp_runtime;    // has the SONAME libgomp.so.1
  std::string one_runtime;       // the loader's audit module that keeps other runtimes out
  std::string mpich_shim;
  std::string openmpi_shim;
  std::string abi_shim;  // of MPI's standard ABI
  std::string any_shim;  // finds out the family
  std::string ompt_tool;
  std::string stock_runtime;  // LLVM's without our patches, which a build has for comparisons
};

// Finds them relative to the command itself.
Libraries find_libraries();

// What of this machine decides about variables.
struct MachineFacts {
  bool has_smt = false;         // cores have several cpus that this process may use
  bool has_autogroups = false;  // the kernel schedules each session as a group
  std::uint32_t num_cpus = 0;   // that this process may use; 0: unknown
  // Each process that the command starts is given cpus that no other one of it has.
  bool gives_own_cpus = false;
};

MachineFacts read_machine_facts();

struct RunSettings {
  struct Variable {
    std::string name, value;
  };
  std::vector<Variable> variables;
  // The given command. Open MPI's launcher also gets -x, so that it takes the variables to other
  // nodes.
  Program command;
  // A line for each variable that was set or left as it is, and for each library that is missing.
  std::vector<std::string> notes;
};

// A report of what barriers cost: its format, a word of HIERBAR_REPORT, the file, and how the
// file's name ends, which tells the format. Empty: none.
struct ReportRequest {
  std::string format;
  std::string file;
  std::string ending;
};

// The report of one of several copies of a program: "cost.2.html" in place of "cost.html".
std::string report_of_instance(const ReportRequest& report, std::size_t index);

// The endings of files that a report can be written to, for messages.
constexpr const char* kReportEndings =
    ".txt, .json, .csv, .html, .trace.json (Perfetto), .lstopo.xml";

// The ending of `file` tells the format. An error says what is wrong with it.
Result<ReportRequest> request_report(const std::string& file);

// "env NAME=VALUE ... PROGRAM ...", for a shell.
std::string shell_line_with(const std::vector<RunSettings::Variable>& variables,
                            const Program& program);

// Chooses the variables with which `command` runs with hierbar's barriers. Variables that the
// environment has are not changed; search paths are put before the user's.
RunSettings choose_run_settings(const Program& command, const FamilyGuess& mpi,
                                const ReportRequest& report, const Libraries& libraries,
                                const MachineFacts& machine, const Environment& environment);

}  // namespace hierbar
