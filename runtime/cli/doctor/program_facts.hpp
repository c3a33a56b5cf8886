// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "cli/doctor/watched_run.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"
#include "cli/program/run_settings.hpp"

namespace hierbar {

// A library that starts threads or connects ranks, in one process.
struct FoundLibrary {
  LibraryKind kind = LibraryKind::kOther;
  std::string path;       // as the loader finds it
  std::string real_path;  // without links
  std::string found_by;   // "DT_RPATH of ./app", "ld.so.cache"; "loaded" where it was seen in a run
  std::string shadowed;   // the file of the same name in LD_LIBRARY_PATH, which a DT_RPATH hides
};

// The libraries of one process, in the order in which symbols are looked for.
struct ProcessLoads {
  std::string program;
  std::vector<FoundLibrary> libraries;  // none of LibraryKind::kOther
};

// All that is known about a command: what it starts, with which variables, and what that loads.
struct ProgramFacts {
  StartedProgram started;
  Environment environment;     // of the program
  Libraries ours;              // of this installation
  FamilyGuess launcher;        // MPI's launcher, if the command has one
  bool is_under_run = false;   // `hierbar run` is part of the command
  bool is_privileged = false;  // by a setuid or setgid bit, or file capabilities
  bool has_service = false;    // the loader finds libhierbar.so.0 by itself
  std::string static_runtime;  // a function of OpenMP or MPI that is linked into the program itself
  bool is_static = false;      // the loader has no part in the program
  bool needs_openmp = false;   // it, or a library that it needs, was linked with an OpenMP runtime
  bool starts_threads = false;     // it calls pthread_create() or the likes itself
  bool calls_mpi_barrier = false;  // it or a library that it needs calls MPI_Barrier()
  bool opens_libraries = false;    // it calls dlopen() itself
  bool was_run = false;            // the libraries are those of a run
  std::vector<ProcessLoads> processes;
  std::vector<std::string> missing;  // "libfoo.so.1, which ./app needs"
  std::vector<RankView> ranks;       // of a run: the threads at their greatest number
  std::vector<std::string> notes;    // what could not be seen
  std::vector<std::string> remarks;  // how it was built, and what that means under `hierbar run`
};

// Whether a process has an MPI library, as far as was seen.
bool uses_mpi(const ProgramFacts& facts);

// Finds out without running anything. Errors: there is no such command.
Result<ProgramFacts> gather_facts(const Program& command);

// The same with what was seen in a run.
void add_run(const WatchedRun& run, ProgramFacts& facts);

}  // namespace hierbar
