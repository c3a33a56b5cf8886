// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/compare/compared_runs.hpp"
#include "cli/doctor/program_facts.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"

namespace hierbar {

// The names that --with takes.
inline constexpr const char* kRuntimeNames = "libgomp, libomp, libiomp5";

// An OpenMP runtime that a program is to be compared on.
struct OtherRuntime {
  std::string name;  // one of kRuntimeNames
  std::string path;  // of its file
};

// What --with names: "libomp", or "libiomp5=/opt/intel/lib", a file or a directory that has it.
//
// A name alone is looked for where the loader looks, in LD_LIBRARY_PATH and ld.so.cache. libomp is
// before that looked for beside this command, where a build has LLVM's without our patches, and
// after it in /usr/lib/llvm-*.
//
// Errors: there is no such name, no such file, or the file is another runtime.
Result<OtherRuntime> find_other_runtime(const std::string& word);

// Why the program cannot be compared on the runtime; empty if it can.
std::string objection_to(const OtherRuntime& runtime, const ProgramFacts& facts);

struct WaysRequest {
  Program program;
  FamilyGuess mpi;
  std::vector<OtherRuntime> others{};
  std::vector<std::uint32_t> team_sizes{};  // empty: the environment's
};

// For each team size: the program as it is, with hierbar, and on each other runtime.
std::vector<Way> make_ways(const WaysRequest& request);

}  // namespace hierbar
