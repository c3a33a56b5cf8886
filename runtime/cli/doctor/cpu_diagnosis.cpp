// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/variables.hpp"
#include "cli/doctor/diagnosis.hpp"
#include "placement/decision/predict_team.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {
namespace {

// A variable that names cpus by number.
struct CpuList {
  std::string variable;
  std::string value;
  CpuSet cpus;
};

constexpr std::uint32_t kMostCpu = 1U << 16;

// A number at the beginning of the text, which is cut off.
bool read_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number > kMostCpu) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool cut(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

// "0 3 1-2 4-15:2", with blanks or commas between the parts; braces may group cpus. Empty if it is
// something else.
CpuSet parse_list(std::string_view text) {
  CpuSet cpus;
  while (!text.empty()) {
    if (text.find_first_of(" ,{}") == 0) {
      text.remove_prefix(1);
      continue;
    }
    std::uint32_t first = 0;
    if (!read_number(text, first)) return {};
    std::uint32_t last = first;
    std::uint32_t stride = 1;
    if (cut(text, '-') && !read_number(text, last)) return {};
    if (cut(text, ':') && (!read_number(text, stride) || stride == 0)) return {};
    for (std::uint32_t cpu = first; cpu <= last; cpu += stride) cpus.set(cpu);
  }
  return cpus;
}

// Of OMP_PLACES, GOMP_CPU_AFFINITY ("0 3 1-2 4-15:2") and KMP_AFFINITY ("proclist=[0,2-4]"). Leaves
// out variables that name no cpus and lists that are not understood.
std::vector<CpuList> read_cpu_lists(const Environment& environment) {
  std::vector<CpuList> lists;
  const auto add = [&](const char* name, const std::string& value, const CpuSet& cpus) {
    if (!cpus.empty()) lists.push_back({name, value, cpus});
  };
  if (const std::string value = value_of(environment, "OMP_PLACES"); !value.empty()) {
    CpuSet cpus;
    if (const Result<std::vector<CpuSet>> places = parse_places(value)) {
      for (const CpuSet& place : *places) cpus |= place;
    }
    add("OMP_PLACES", value, cpus);
  }
  if (const std::string value = value_of(environment, "GOMP_CPU_AFFINITY"); !value.empty()) {
    add("GOMP_CPU_AFFINITY", value, parse_list(value));
  }
  constexpr std::string_view kList = "proclist=[";
  if (const std::string value = value_of(environment, "KMP_AFFINITY");
      value.find(kList) != std::string::npos) {
    const std::size_t begin = value.find(kList) + kList.size();
    add("KMP_AFFINITY", value,
        parse_list(std::string_view(value).substr(begin, value.find(']', begin) - begin)));
  }
  return lists;
}

void find_bad_lists(const DoctorInput& input, std::vector<Diagnosis>& found) {
  for (const CpuList& list : read_cpu_lists(input.facts.environment)) {
    const std::string where = list.variable + "=" + list.value;
    const std::string unset = "env -u " + list.variable + " ";
    const auto names = [](const CpuSet& cpus) {
      return (cpus.count() == 1 ? "cpu " : "cpus ") + cpus.to_string();
    };
    if (const CpuSet offline = list.cpus - input.machine.present; !offline.empty()) {
      found.push_back(
          {"offline-cpus",
           "a list names " + names(offline) + ", which " + (offline.count() == 1 ? "is" : "are") +
               " not online here",
           where,
           "use names such as 'cores' in place of numbers: lists of cpus do not fit other machines",
           unset + with_prefix(input, "OMP_PLACES=cores")});
    }
    const CpuSet foreign = (list.cpus & input.machine.present) - input.rank.mask;
    if (foreign.empty() || !keeps_cpus(input.facts.started)) continue;
    found.push_back({"foreign-cpus",
                     "a list names " + names(foreign) +
                         ", which this process may not use (its binding or cpuset: " +
                         input.rank.mask.to_string() + ")",
                     where, "use names such as 'cores' in place of numbers",
                     unset + with_prefix(input, "OMP_PLACES=cores")});
  }
}

// hierbar's runtime makes teams without a number as small as the quota.
bool quota_is_obeyed(const DoctorInput& input) {
  const Environment& environment = input.facts.environment;
  if (!asks_for_hier(environment) || !value_of(environment, "OMP_NUM_THREADS").empty())
    return false;
  return std::any_of(input.facts.processes.begin(), input.facts.processes.end(),
                     [](const ProcessLoads& process) {
                       return std::any_of(process.libraries.begin(), process.libraries.end(),
                                          [](const FoundLibrary& library) {
                                            return library.kind == LibraryKind::kHierbarOpenMp;
                                          });
                     });
}

std::string command_for(const DoctorInput& input, FindingKind kind) {
  switch (kind) {
    case FindingKind::kQuota:
      return with_prefix(input, "OMP_NUM_THREADS=" + std::to_string(*input.quota));
    case FindingKind::kStackedThreads:
      return input.facts.was_run
                 ? "env -u OMP_PLACES -u OMP_PROC_BIND -u GOMP_CPU_AFFINITY " +
                       run_command_line(input)
                 : with_prefix(input, "OMP_NUM_THREADS=" + std::to_string(input.rank.mask.count()));
    default:
      return input.hierbar + " topo";
  }
}

// There are no ranks here: after a run their numbers are those of processes, before it there is
// one.
std::string where_of(const Finding& finding) {
  constexpr std::string_view kRank = "rank ";
  constexpr std::string_view kFirst = "rank 0: ";
  std::string where = finding.where;
  if (where.starts_with(kFirst)) where.erase(0, kFirst.size());
  for (std::size_t at = 0; (at = where.find(kRank, at)) != std::string::npos;)
    where.replace(at, kRank.size(), "process ");
  return where;
}

// What `hierbar check` finds, of these ranks. Each code once.
void judge(const DoctorInput& input, std::vector<RankView> ranks, std::vector<Diagnosis>& found) {
  if (ranks.empty()) return;
  NodeView node{.machine = input.machine, .ranks = std::move(ranks)};
  if (!quota_is_obeyed(input)) node.quota = input.quota;
  for (const Finding& finding : find_problems(node)) {
    const std::string code = finding_name(finding.kind);
    const bool is_judged = finding.kind == FindingKind::kStackedThreads ||
                           finding.kind == FindingKind::kQuota ||
                           finding.kind == FindingKind::kSmtSharing;
    const auto is_known = [&](const Diagnosis& other) { return other.code == code; };
    if (!is_judged || std::any_of(found.begin(), found.end(), is_known)) continue;
    found.push_back(
        {code, finding.what, where_of(finding), finding.advice, command_for(input, finding.kind)});
  }
}

void find_misplaced(const DoctorInput& input, std::vector<Diagnosis>& found) {
  // Behind a launcher the masks are not known yet.
  if (keeps_cpus(input.facts.started)) judge(input, {input.rank}, found);
  // In a run, libraries keep threads that sleep, so threads that may use all cpus say nothing.
  std::vector<RankView> bound = input.facts.ranks;
  for (RankView& rank : bound) {
    std::erase(rank.team.cpus, input.rank.mask);
    rank.team.num_threads = static_cast<std::uint32_t>(rank.team.cpus.size());
  }
  std::erase_if(bound, [](const RankView& rank) { return rank.team.cpus.empty(); });
  judge(input, std::move(bound), found);
}

}  // namespace

std::vector<Diagnosis> diagnose_cpus(const DoctorInput& input) {
  std::vector<Diagnosis> found;
  find_bad_lists(input, found);
  if (loads_openmp(input.facts)) find_misplaced(input, found);
  return found;
}

}  // namespace hierbar
