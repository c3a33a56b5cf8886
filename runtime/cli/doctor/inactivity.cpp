// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/inactivity.hpp"

#include <algorithm>

#include "cli/doctor/diagnosis.hpp"

namespace hierbar {
namespace {

Inactivity one_thread() { return {"one-thread", "teams of one thread, which need no barrier"}; }
Inactivity no_barrier() { return {"no-barrier", "no barrier called: the ranks never call MPI_Barrier"}; }
Inactivity other_runtime(const std::string& path) {
  return {"other-runtime-later", "another OpenMP runtime loaded later: " + path};
}

// OpenMP that a run has shown, though no file names it.
bool has_loaded_openmp(const ProgramFacts& facts) {
  return facts.was_run && std::any_of(facts.processes.begin(), facts.processes.end(), [](const ProcessLoads& process) {
           return std::any_of(process.libraries.begin(), process.libraries.end(), [](const FoundLibrary& library) {
             return is_openmp(library.kind) && library.kind != LibraryKind::kHierbarOpenMp;
           });
         });
}

std::string plural(std::uint64_t count, const char* noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

}  // namespace

std::optional<Inactivity> foresee_inactivity(const ProgramFacts& facts, std::uint32_t team_size) {
  if (facts.is_static) return Inactivity{"static-program", "static program: no library can be put in front of its functions"};
  if (facts.needs_openmp) return team_size == 1 ? std::optional(one_thread()) : std::nullopt;
  // What these start, open or find by dlsym() is not in their files; a run with --run has shown a part of it.
  const bool is_hidden = interpreter_of(facts.started) != Interpreter::kNone || facts.opens_libraries;
  if (uses_mpi(facts)) return facts.calls_mpi_barrier || is_hidden ? std::nullopt : std::optional(no_barrier());
  if (is_hidden || has_loaded_openmp(facts)) return std::nullopt;
  if (facts.starts_threads)
    return Inactivity{"own-threads", "threads of its own: it starts them itself, and neither OpenMP nor MPI"};
  return Inactivity{"no-openmp", "no OpenMP and no MPI in it"};
}

Inactivity explain_inactivity(const CountedRun& run, const Program& command) {
  const auto& [openmp, mpi, other] = run.barriers;
  if (const std::uint64_t left = openmp.num_others + mpi.num_others; left > 0) {
    return {"left", "its " + plural(left, "barrier") + " went to the library's own; HIERBAR_VERBOSE=1 says why"};
  }
  if (!other.empty()) return other_runtime(other);
  if (openmp.num_processes > 0) return one_thread();
  if (mpi.num_processes > 0) return no_barrier();
  if (run.signal != 0) return {"killed", "signal " + std::to_string(run.signal) + " ended it before it could tell"};
  if (const Result<ProgramFacts> facts = gather_facts(command)) {
    if (facts->needs_openmp && !asks_for_hier(facts->environment)) {
      return {"other-barrier", "KMP_BARRIER='" + value_of(facts->environment, "KMP_BARRIER") + "' asks for another barrier"};
    }
    if (facts->is_privileged) return {"setuid", "it gets more rights than its user, so the loader ignores LD_PRELOAD"};
    if (std::optional<Inactivity> foreseen = foresee_inactivity(*facts, 0)) return *std::move(foreseen);
  }
  return {"not-seen",
          "no process that ended normally had used OpenMP or MPI; 'hierbar doctor --run' with the same command "
          "looks closer"};
}

}  // namespace hierbar
