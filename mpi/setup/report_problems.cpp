// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/setup/report_problems.hpp"

#include <string>

#include "mpi/record/ompt_tool.hpp"
#include "mpi/settings/message.hpp"
#include "mpi/settings/report_settings.hpp"

namespace hierbar::mpi {

void report_problems(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) {
  // The first barrier of every communicator comes here, and nearly always nothing is wrong.
  if (process.settings.problems.empty() && report_settings().problems.empty()) return;
  int in_world = 0, rank = -1;
  ask([&] { return pmpi.Initialized(&in_world); });
  ask([&] { return pmpi.Comm_rank(in_world != 0 ? pmpi.comm_world : comm, &rank); });
  if (rank != 0 || !process.claim_first(ProcessState::Message::kProblems)) return;
  for (const std::string& problem : process.settings.problems) print_line(problem);
  // The tool reads the same variables and reports what is wrong with them.
  if (is_ompt_tool_loaded()) return;
  for (const std::string& problem : report_settings().problems) print_line(problem);
}

}  // namespace hierbar::mpi
