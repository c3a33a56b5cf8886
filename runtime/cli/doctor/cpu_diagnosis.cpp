// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "cli/doctor/cpu_lists.hpp"
#include "cli/doctor/diagnosis.hpp"

namespace hierbar {
namespace {

void find_bad_lists(const DoctorInput& input, std::vector<Diagnosis>& found) {
  for (const CpuList& list : read_cpu_lists(input.facts.environment)) {
    const std::string where = list.variable + "=" + list.value;
    const std::string unset = "env -u " + list.variable + " ";
    const auto names = [](const CpuSet& cpus) { return (cpus.count() == 1 ? "cpu " : "cpus ") + cpus.to_string(); };
    if (const CpuSet offline = list.cpus - input.machine.present; !offline.empty()) {
      found.push_back({"offline-cpus",
                       "a list names " + names(offline) + ", which " + (offline.count() == 1 ? "is" : "are") + " not online here",
                       where, "name cores and not numbers: lists do not carry over to other machines",
                       unset + with_prefix(input, "OMP_PLACES=cores")});
    }
    const CpuSet foreign = (list.cpus & input.machine.present) - input.rank.mask;
    if (foreign.empty() || !input.facts.started.wrappers.empty()) continue;
    found.push_back({"foreign-cpus",
                     "a list names " + names(foreign) +
                         ", which this process may not use (its binding or cpuset: " + input.rank.mask.to_string() + ")",
                     where, "name cores and not numbers", unset + with_prefix(input, "OMP_PLACES=cores")});
  }
}

// hierbar's runtime makes teams without a number as small as the quota.
bool quota_is_obeyed(const DoctorInput& input) {
  const Environment& environment = input.facts.environment;
  if (!asks_for_hier(environment) || !value_of(environment, "OMP_NUM_THREADS").empty()) return false;
  return std::any_of(input.facts.processes.begin(), input.facts.processes.end(), [](const ProcessLoads& process) {
    return std::any_of(process.libraries.begin(), process.libraries.end(),
                       [](const FoundLibrary& library) { return library.kind == LibraryKind::kHierbarOpenMp; });
  });
}

std::string command_for(const DoctorInput& input, FindingKind kind) {
  switch (kind) {
    case FindingKind::kQuota:
      return with_prefix(input, "OMP_NUM_THREADS=" + std::to_string(*input.quota));
    case FindingKind::kStackedThreads:
      return input.facts.was_run ? "env -u OMP_PLACES -u OMP_PROC_BIND -u GOMP_CPU_AFFINITY " + run_command_line(input)
                                 : with_prefix(input, "OMP_NUM_THREADS=" + std::to_string(input.rank.mask.count()));
    default:
      return input.hierbar + " topo";
  }
}

// What `hierbar check` finds, for this one process.
void find_misplaced(const DoctorInput& input, std::vector<Diagnosis>& found) {
  // Behind a launcher the masks are not known yet, and without OpenMP there is no team. After a run
  // they are those that were seen.
  NodeView node{.machine = input.machine};
  if (input.facts.was_run) {
    node.ranks = input.facts.ranks;
  } else if (input.facts.started.wrappers.empty() || input.facts.is_under_run) {
    node.ranks = {input.rank};
  }
  if (node.ranks.empty()) return;
  if (!quota_is_obeyed(input)) node.quota = input.quota;
  for (const Finding& finding : find_problems(node)) {
    const bool is_judged = finding.kind == FindingKind::kStackedThreads || finding.kind == FindingKind::kQuota ||
                           (finding.kind == FindingKind::kSmtSharing && !input.facts.was_run);
    if (!is_judged) continue;
    found.push_back({finding_name(finding.kind), finding.what, finding.where, finding.advice, command_for(input, finding.kind)});
  }
}

}  // namespace

std::vector<Diagnosis> diagnose_cpus(const DoctorInput& input) {
  std::vector<Diagnosis> found;
  find_bad_lists(input, found);
  if (loads_openmp(input.facts)) find_misplaced(input, found);
  return found;
}

}  // namespace hierbar
