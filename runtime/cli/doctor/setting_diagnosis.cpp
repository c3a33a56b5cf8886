// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/doctor/diagnosis.hpp"

namespace hierbar {
namespace {

bool is_false(const std::string& value) {
  const std::string word = lower_word(value);
  const std::vector<std::string> kWords = {"false", "f", "0", "no", "n", "off", ".false.", ".f.", "disabled"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_python(const DoctorInput& input) { return interpreter_of(input.facts.started) == Interpreter::kPython; }

// A runtime that obeys KMP_INIT_AT_FORK is there, or may be loaded later. hierbar's does not obey
// it under KMP_BARRIER=hier.
bool obeys_fork_setting(const DoctorInput& input) {
  const Environment& environment = input.facts.environment;
  for (const ProcessLoads& process : input.facts.processes) {
    for (const FoundLibrary& library : process.libraries) {
      if (library.kind == LibraryKind::kLlvmOpenMp || library.kind == LibraryKind::kIntelOpenMp) return true;
      if (library.kind == LibraryKind::kHierbarOpenMp) return !asks_for_hier(environment);
    }
  }
  return is_python(input) && !input.facts.was_run;
}

void find_fork_setting(const DoctorInput& input, std::vector<Diagnosis>& found) {
  const std::string value = value_of(input.facts.environment, "KMP_INIT_AT_FORK");
  if (!is_false(value) || !obeys_fork_setting(input)) return;
  found.push_back({"fork-setting", "a process that is forked after a parallel region hangs in its first own region",
                   "KMP_INIT_AT_FORK=" + value,
                   "set KMP_INIT_AT_FORK=TRUE before the program starts; joblib and scikit-learn "
                   "set FALSE unless it is set",
                   with_prefix(input, "KMP_INIT_AT_FORK=TRUE")});
}

// The initial thread is bound for good, and what it starts inherits its cpus.
void find_inherited_binding(const DoctorInput& input, std::vector<Diagnosis>& found) {
  if (!is_python(input)) return;
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"}) {
    const std::string value = value_of(input.facts.environment, name);
    if (value.empty() || is_false(value)) continue;
    found.push_back({"binding-inherited",
                     "the runtime binds Python's main thread, and its later threads and processes inherit "
                     "that one cpu",
                     std::string(name) + "=" + value, "unset it and let 'hierbar run' bind threads in parallel regions only",
                     "env -u OMP_PLACES -u OMP_PROC_BIND -u GOMP_CPU_AFFINITY " + run_command_line(input)});
    return;
  }
}

// Since Slurm 22.05, srun does not take --cpus-per-task from the job.
void find_lost_cpus_per_task(const DoctorInput& input, std::vector<Diagnosis>& found) {
  const ProgramFacts& facts = input.facts;
  const std::string number = value_of(facts.environment, "SLURM_CPUS_PER_TASK");
  if (number.empty() || number == "1" || !value_of(facts.environment, "SRUN_CPUS_PER_TASK").empty()) return;
  if (std::none_of(facts.started.wrappers.begin(), facts.started.wrappers.end(), is_srun)) return;
  for (std::size_t i = 0; i < facts.started.first_word; ++i) {
    const std::string& word = input.command[i];
    if (word.starts_with("--cpus-per-task") || (word.starts_with("-c") && !word.starts_with("--"))) return;
  }
  found.push_back({"lost-cpus-per-task",
                   "srun of Slurm 22.05 and later does not take the job's --cpus-per-task, so each task may "
                   "get one cpu",
                   "SLURM_CPUS_PER_TASK=" + number + ", and SRUN_CPUS_PER_TASK is not set", "put the number where srun looks",
                   "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"});
}

void find_misspelt_variables(std::vector<Diagnosis>& found) {
  for (const std::string& message : misspelt_variables())
    found.push_back({"misspelt-variable", message, "the environment", "correct the name, or unset it", ""});
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
