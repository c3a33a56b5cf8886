// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/diagnosis.hpp"

#include <algorithm>
#include <sstream>

#include "base/text.hpp"
#include "base/variables.hpp"

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

std::string with_prefix(const DoctorInput& input, const std::string& prefix) {
  return prefix + " " + shell_line(input.command);
}

bool asks_for_hier(const Environment& environment) {
  return lower_word(value_of(environment, "KMP_BARRIER")) == "hier";
}

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
  return std::any_of(
      facts.processes.begin(), facts.processes.end(), [](const ProcessLoads& process) {
        return std::any_of(process.libraries.begin(), process.libraries.end(),
                           [](const FoundLibrary& library) { return is_openmp(library.kind); });
      });
}

namespace {

Inactivity one_thread() { return {"one-thread", "teams of one thread, which need no barrier"}; }
Inactivity no_barrier() {
  return {"no-barrier", "no barrier called: the ranks never call MPI_Barrier"};
}
Inactivity other_runtime(const std::string& path) {
  return {"other-runtime-later", "another OpenMP runtime loaded later: " + path};
}

// OpenMP that a run has shown, though no file names it.
bool has_loaded_openmp(const ProgramFacts& facts) {
  return facts.was_run &&
         std::any_of(facts.processes.begin(), facts.processes.end(),
                     [](const ProcessLoads& process) {
                       return std::any_of(process.libraries.begin(), process.libraries.end(),
                                          [](const FoundLibrary& library) {
                                            return is_openmp(library.kind) &&
                                                   library.kind != LibraryKind::kHierbarOpenMp;
                                          });
                     });
}

}  // namespace

std::optional<Inactivity> foresee_inactivity(const ProgramFacts& facts, std::uint32_t team_size) {
  if (facts.is_static)
    return Inactivity{"static-program", "static program: no library can replace its functions"};
  if (facts.needs_openmp) return team_size == 1 ? std::optional(one_thread()) : std::nullopt;
  // What these start, open or find by dlsym() is not in their files; a run with --run has shown a
  // part of it.
  const bool is_hidden =
      interpreter_of(facts.started) != Interpreter::kNone || facts.opens_libraries;
  if (uses_mpi(facts))
    return facts.calls_mpi_barrier || is_hidden ? std::nullopt : std::optional(no_barrier());
  if (is_hidden || has_loaded_openmp(facts)) return std::nullopt;
  if (facts.starts_threads)
    return Inactivity{"own-threads",
                      "own threads: it starts its threads itself and uses neither OpenMP nor MPI"};
  return Inactivity{"no-openmp", "no OpenMP and no MPI in the program"};
}

Inactivity explain_inactivity(const CountedRun& run, const Program& command) {
  const auto& [openmp, mpi, mpi_data, other] = run.barriers;
  if (const std::uint64_t left = openmp.num_others + mpi.num_others; left > 0) {
    return {"left", "its " + plural(left, "barrier") +
                        " went to the library's own; HIERBAR_VERBOSE=1 says why"};
  }
  for (std::size_t i = 0; i < mpi_data.size(); ++i) {
    if (const std::uint64_t left = mpi_data[i].num_others; left > 0) {
      return {"left", "it has no barriers, and its " + plural(left, kDataCallsOfMpi[i].name) +
                          " went to the MPI library"};
    }
  }
  if (!other.empty()) return other_runtime(other);
  if (openmp.num_processes > 0) return one_thread();
  if (mpi.num_processes > 0) return no_barrier();
  if (run.signal != 0)
    return {"killed", "signal " + std::to_string(run.signal) + " ended it before it could report"};
  if (const Result<ProgramFacts> facts = gather_facts(command)) {
    if (facts->needs_openmp && !asks_for_hier(facts->environment)) {
      return {"other-barrier", "KMP_BARRIER='" + value_of(facts->environment, "KMP_BARRIER") +
                                   "' selects another barrier"};
    }
    if (facts->is_privileged)
      return {"setuid",
              "the program gets more rights than its user, so the loader ignores LD_PRELOAD"};
    if (std::optional<Inactivity> foreseen = foresee_inactivity(*facts, 0))
      return *std::move(foreseen);
  }
  return {"not-seen",
          "no process that ended normally had used OpenMP or MPI; 'hierbar doctor --run' with the "
          "same command shows more"};
}

namespace {

bool is_false(const std::string& value) {
  const std::string word = lower_word(value);
  const std::vector<std::string> kWords = {"false", "f",       "0",   "no",      "n",
                                           "off",   ".false.", ".f.", "disabled"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_python(const DoctorInput& input) {
  return interpreter_of(input.facts.started) == Interpreter::kPython;
}

// A runtime that obeys KMP_INIT_AT_FORK is there, or may be loaded later. hierbar's does not obey
// it under KMP_BARRIER=hier.
bool obeys_fork_setting(const DoctorInput& input) {
  const Environment& environment = input.facts.environment;
  for (const ProcessLoads& process : input.facts.processes) {
    for (const FoundLibrary& library : process.libraries) {
      if (library.kind == LibraryKind::kLlvmOpenMp || library.kind == LibraryKind::kIntelOpenMp)
        return true;
      if (library.kind == LibraryKind::kHierbarOpenMp) return !asks_for_hier(environment);
    }
  }
  return is_python(input) && !input.facts.was_run;
}

void find_fork_setting(const DoctorInput& input, std::vector<Diagnosis>& found) {
  const std::string value = value_of(input.facts.environment, "KMP_INIT_AT_FORK");
  if (!is_false(value) || !obeys_fork_setting(input)) return;
  found.push_back({"fork-setting",
                   "a process that is forked after a parallel region hangs in its own first region",
                   "KMP_INIT_AT_FORK=" + value,
                   "set KMP_INIT_AT_FORK=TRUE before the program starts; joblib and scikit-learn "
                   "set FALSE if it is not set",
                   with_prefix(input, "KMP_INIT_AT_FORK=TRUE")});
}

// The initial thread is bound for good, and what it starts inherits its cpus.
void find_inherited_binding(const DoctorInput& input, std::vector<Diagnosis>& found) {
  if (!is_python(input)) return;
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"}) {
    const std::string value = value_of(input.facts.environment, name);
    if (value.empty() || is_false(value)) continue;
    found.push_back(
        {"binding-inherited",
         "the runtime binds Python's main thread, and its later threads and processes inherit "
         "that one cpu",
         std::string(name) + "=" + value,
         "unset it and let 'hierbar run' bind threads in parallel regions only",
         "env -u OMP_PLACES -u OMP_PROC_BIND -u GOMP_CPU_AFFINITY " + run_command_line(input)});
    return;
  }
}

// Since Slurm 22.05, srun does not take --cpus-per-task from the job.
void find_lost_cpus_per_task(const DoctorInput& input, std::vector<Diagnosis>& found) {
  const ProgramFacts& facts = input.facts;
  const std::string number = value_of(facts.environment, "SLURM_CPUS_PER_TASK");
  if (number.empty() || number == "1" || !value_of(facts.environment, "SRUN_CPUS_PER_TASK").empty())
    return;
  if (std::none_of(facts.started.wrappers.begin(), facts.started.wrappers.end(), is_srun)) return;
  for (std::size_t i = 0; i < facts.started.first_word; ++i) {
    const std::string& word = input.command[i];
    if (word.starts_with("--cpus-per-task") || (word.starts_with("-c") && !word.starts_with("--")))
      return;
  }
  found.push_back({"lost-cpus-per-task",
                   "srun of Slurm 22.05 and later ignores the job's --cpus-per-task, so each task "
                   "may get one cpu",
                   "SLURM_CPUS_PER_TASK=" + number + ", and SRUN_CPUS_PER_TASK is not set",
                   "set the variable that srun reads",
                   "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"});
}

void find_misspelt_variables(std::vector<Diagnosis>& found) {
  for (const std::string& message : misspelt_variables())
    found.push_back(
        {"misspelt-variable", message, "the environment", "correct the name, or unset it", ""});
}

}  // namespace

std::vector<Diagnosis> diagnose_settings(const DoctorInput& input) {
  std::vector<Diagnosis> found;
  find_misspelt_variables(found);
  find_fork_setting(input, found);
  find_inherited_binding(input, found);
  find_lost_cpus_per_task(input, found);
  return found;
}

}  // namespace hierbar
