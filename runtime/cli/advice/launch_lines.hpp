// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/advice/candidates.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

enum class LaunchKind : std::uint8_t { kHydra, kOpenMpi, kSrun, kIntel, kPals };

struct LaunchLine {
  LaunchKind kind;
  const char* name;  // "Open MPI"
  // For a shell. It starts the program with the candidate's binding and OpenMP's variables.
  std::string text;
};

// A line for each launcher: `program` behind its options.
//
// The cpus are those of the machine for which the candidate was found. Open MPI gets a rule where
// it has one for the pattern, else a rankfile that `hierbar place` writes.
std::vector<LaunchLine> launch_lines(const Machine& machine, const Candidate& candidate, const Program& program);

// The line without any binding, as people start programs: as many ranks on as many nodes, with the
// same number of threads.
std::string plain_line(LaunchKind kind, const Candidate& candidate, const Program& program);

}  // namespace hierbar
