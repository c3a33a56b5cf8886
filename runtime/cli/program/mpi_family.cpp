// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/mpi_family.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/command_output.hpp"
#include "cli/program/runtime_libraries.hpp"
#include "cli/program/started_program.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

struct Mark {
  const char* text;
  MpiFamily family;
};

MpiFamily find_mark(const std::string& text, const std::vector<Mark>& marks) {
  const auto found =
      std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) { return text.find(mark.text) != std::string::npos; });
  return found == marks.end() ? MpiFamily::kNone : found->family;
}

MpiFamily family_by_name(const std::string& file) {
  return find_mark(file, {{"hydra", MpiFamily::kMpich},
                          {"mpich", MpiFamily::kMpich},
                          {"openmpi", MpiFamily::kOpenMpi},
                          {"orterun", MpiFamily::kOpenMpi},
                          {"prterun", MpiFamily::kOpenMpi}});
}

MpiFamily family_by_version(const std::string& file) {
  const std::string answer = command_output(shell_quoted(file) + " --version 2>&1 </dev/null");
  return find_mark(answer, {{"OpenRTE", MpiFamily::kOpenMpi},
                            {"Open MPI", MpiFamily::kOpenMpi},
                            {"PRRTE", MpiFamily::kOpenMpi},
                            {"HYDRA", MpiFamily::kMpich},
                            {"Intel(R) MPI", MpiFamily::kMpich}});
}

// From the libraries that the loader would load, or would if they were found.
MpiFamily family_by_loads(const std::string& file, const LoaderInput& input) {
  const Result<Loads> loads = predict_loads(file, input);
  if (!loads) return MpiFamily::kNone;
  for (const LoadedFile& loaded : loads->files) {
    if (const LibraryKind kind = library_kind(loaded.elf.path); is_mpi(kind)) return family_of(kind);
  }
  std::string missing;
  for (const Loads::Missing& one : loads->missing) missing += one.name + " ";
  return find_mark(
      missing,
      {{"libmpi.so.40", MpiFamily::kOpenMpi}, {"libmpich.so.12", MpiFamily::kMpich}, {"libmpi.so.12", MpiFamily::kMpich}});
}

// The extension modules of Python's mpi4py; nothing is imported to find them.
std::vector<std::string> mpi4py_modules(const std::string& python) {
  const std::string directory =
      command_output(shell_quoted(python) +
                     " -c 'import importlib.util; print(*importlib.util.find_spec(\"mpi4py\").submodule_search_locations)' "
                     "2>/dev/null </dev/null");
  std::vector<std::string> modules;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(directory.substr(0, directory.find('\n')), unreadable)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("MPI.") && name.ends_with(".so")) modules.push_back(entry.path());
  }
  return modules;
}

}  // namespace

const char* family_name(MpiFamily family) {
  constexpr const char* kNames[] = {"no MPI", "MPICH", "Open MPI"};
  return kNames[static_cast<int>(family)];
}

FamilyGuess guess_family_of_program(const Program& command, const Environment& environment) {
  const LoaderInput input{.environment = environment, .cache = read_loader_cache()};
  for (const std::string& word : command) {
    const std::string file = find_in_path(word);
    const MpiFamily family = file.empty() ? MpiFamily::kNone : family_by_loads(file, input);
    if (family != MpiFamily::kNone) return {family, false, "'" + file + "' loads it"};
  }
  const StartedProgram started = find_started_program(command);
  if (started.wrappers.empty() || interpreter_of(started) != Interpreter::kPython) return {};
  FamilyGuess guess;
  for (const std::string& module : mpi4py_modules(python_of(started))) {
    const MpiFamily family = family_by_loads(module, input);
    // Wheels have a module for each family, and choose when they are imported.
    if (guess.family != MpiFamily::kNone && family != guess.family) return {};
    guess = {family, false, "'" + module + "' loads it"};
  }
  return guess.family == MpiFamily::kNone ? FamilyGuess{} : guess;
}

FamilyGuess guess_family(const Program& command, const Environment& environment) {
  if (const std::string file = find_in_path(command.front()); is_mpi_launcher(command.front()) && !file.empty()) {
    std::error_code unresolved;
    const std::string real = std::filesystem::canonical(file, unresolved);
    if (const MpiFamily family = family_by_name(real); family != MpiFamily::kNone) {
      return {family, true, "'" + command.front() + "' is " + real};
    }
    if (const MpiFamily family = family_by_version(file); family != MpiFamily::kNone) {
      return {family, true, "'" + command.front() + " --version' says so"};
    }
  }
  return guess_family_of_program(command, environment);
}

}  // namespace hierbar
