// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/diagnosis.hpp"

#include <algorithm>
#include <sstream>

#include "base/text.hpp"

namespace hierbar {
namespace {

// Whether a directory of a search path holds this project's libomp.
bool has_our_directory(const std::string& path) {
  std::istringstream directories(path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    for (const char* name : {"/libomp.so", "/libgomp.so.1"}) {
      if (library_kind(directory + name) == LibraryKind::kHierbarOpenMp) return true;
    }
  }
  return false;
}

}  // namespace

std::string run_command_line(const DoctorInput& input) {
  if (input.facts.is_under_run) return shell_line(input.command);
  return shell_quoted(input.hierbar) + " run -- " + shell_line(input.command);
}

std::string with_prefix(const DoctorInput& input, const std::string& prefix) { return prefix + " " + shell_line(input.command); }

bool asks_for_hier(const Environment& environment) { return lower_word(value_of(environment, "KMP_BARRIER")) == "hier"; }

bool wants_hierbar(const ProgramFacts& facts) {
  if (asks_for_hier(facts.environment)) return true;
  std::string preloaded = value_of(facts.environment, "LD_PRELOAD");
  std::replace(preloaded.begin(), preloaded.end(), ' ', ':');
  std::istringstream files(preloaded);
  for (std::string file; std::getline(files, file, ':');) {
    if (library_kind(file) == LibraryKind::kHierbarOpenMp) return true;
  }
  return has_our_directory(value_of(facts.environment, "LD_LIBRARY_PATH"));
}

bool loads_openmp(const ProgramFacts& facts) {
  return std::any_of(facts.processes.begin(), facts.processes.end(), [](const ProcessLoads& process) {
    return std::any_of(process.libraries.begin(), process.libraries.end(),
                       [](const FoundLibrary& library) { return is_openmp(library.kind); });
  });
}

}  // namespace hierbar
