// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/findings.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "placement/share/share.hpp"

namespace hierbar {
namespace {

std::string count_of(std::uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string name_cpus(const CpuSet& cpus) {
  return (cpus.count() == 1 ? "cpu " : "cpus ") + cpus.to_string();
}

std::uint64_t sum_of_threads(const NodeView& node) {
  return std::accumulate(
      node.ranks.begin(), node.ranks.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RankView& rank) { return sum + rank.team.num_threads; });
}

std::uint32_t num_cores(const Machine& machine, const CpuSet& cpus) {
  return machine.one_cpu_per_core(cpus).count();
}

CpuSet cpus_of_team(const RankView& rank) {
  CpuSet cpus;
  for (const CpuSet& thread : rank.team.cpus) cpus |= thread;
  return cpus;
}

// Collects findings. Equal ones of several ranks become one.
class Report {
 public:
  void add(FindingKind kind, const RankView& rank, const std::string& what,
           const std::string& where, const std::string& advice) {
    constexpr std::size_t kMostPlaces = 4;
    auto same = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& finding) {
      return finding.kind == kind && finding.what == what;
    });
    if (same == findings_.end())
      same = findings_.insert(findings_.end(), Finding{kind, {}, what, "", advice});
    same->ranks.push_back(rank.rank);
    if (same->ranks.size() == kMostPlaces + 1) same->where += "; ...";
    if (same->ranks.size() > kMostPlaces) return;
    same->where +=
        (same->where.empty() ? "rank " : "; rank ") + std::to_string(rank.rank) + ": " + where;
  }
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  std::vector<Finding> findings() && { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

// --- 1. Each rank by itself

// Reports the cpus that have the most threads, relative to their number.
void find_stacked(const RankView& rank, Report& report) {
  constexpr const char* kAdvice =
      "bind each rank to as many cores as it has threads ('hierbar place' prints how), or start "
      "fewer threads";
  std::map<CpuSet, std::uint32_t> threads_on;
  for (const CpuSet& cpus : rank.team.cpus) ++threads_on[cpus];
  const auto worst =
      std::max_element(threads_on.begin(), threads_on.end(), [](const auto& a, const auto& b) {
        return std::uint64_t{a.second} * b.first.count() <
               std::uint64_t{b.second} * a.first.count();
      });
  if (worst == threads_on.end() || worst->second <= worst->first.count()) return;
  report.add(FindingKind::kStackedThreads, rank,
             count_of(worst->second, "thread") + " on " + count_of(worst->first.count(), "cpu"),
             name_cpus(worst->first), kAdvice);
}

void find_offline(const NodeView& node, const RankView& rank, Report& report) {
  const CpuSet offline = rank.mask - node.machine.present;
  // A process that is not bound has in its mask every cpu that the machine could have.
  if (offline.empty() || node.machine.present.is_subset_of(rank.mask)) return;
  report.add(
      FindingKind::kOfflineCpus, rank, "bound to cpus that are not online", name_cpus(offline),
      "use cpus of this node ('hierbar topo' shows them); lists of cpus do not fit other machines");
}

void find_foreign(const NodeView& node, const RankView& rank, Report& report) {
  if (!rank.team.foreign.empty()) {
    report.add(FindingKind::kForeignCpus, rank,
               "OMP_PLACES names cpus that the rank may not use, which OpenMP leaves out",
               name_cpus(rank.team.foreign),
               "use OMP_PLACES=cores, which means the rank's own cores, or change its binding");
  }
  const CpuSet outside = node.grant ? (rank.mask & node.machine.present) - *node.grant : CpuSet();
  if (outside.empty()) return;
  report.add(
      FindingKind::kForeignCpus, rank, "bound to cpus that its launcher was not given",
      name_cpus(outside),
      "they may be another job's: bind inside the launcher's cpus, " + node.grant->to_string());
}

// --- 2. Units that are cut

// Whether the mask has parts of several units of the level and no complete one.
bool is_split(const Machine& machine, const CpuSet& mask, Level level) {
  int touched = 0;
  bool any_whole = false;
  for (const Unit& unit : machine.units) {
    if (!unit.has(level) || !unit.cpus.intersects(mask)) continue;
    ++touched;
    any_whole = any_whole || (unit.cpus & machine.allowed).is_subset_of(mask);
  }
  return touched > 1 && !any_whole;
}

std::ptrdiff_t count_split(const Machine& machine, const std::vector<CpuSet>& masks, Level level) {
  return std::count_if(masks.begin(), masks.end(),
                       [&](const CpuSet& mask) { return is_split(machine, mask, level); });
}

// Finds masks that are split although they need not be: share_out() would split fewer of them. It
// shares out the cpus of all ranks, and the launcher's own if these are known.
void find_split(const NodeView& node, FindingKind kind, Level level, const char* noun,
                Report& report) {
  std::vector<CpuSet> masks;
  std::vector<std::uint32_t> threads;
  CpuSet pool;
  for (const RankView& rank : node.ranks) {
    masks.push_back(rank.mask & node.machine.present);
    threads.push_back(rank.team.num_threads);
    pool |= masks.back();
  }
  if (node.grant) pool |= *node.grant & node.machine.allowed;
  const Result<std::vector<CpuSet>> better = share_out(node.machine, pool, threads);
  if (!better ||
      count_split(node.machine, masks, level) <= count_split(node.machine, *better, level))
    return;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (!is_split(node.machine, masks[i], level)) continue;
    // This was reported already, as a split package.
    if (level == Level::kNuma && is_split(node.machine, masks[i], Level::kPackage)) continue;
    report.add(kind, node.ranks[i],
               "bound to parts of " + count_of(count_touched(node.machine, masks[i], level), noun) +
                   " without need",
               name_cpus(masks[i]),
               "bind along the machine's tree: 'hierbar place' prints settings that cut between " +
                   std::string(noun) + "s where they can");
  }
}

// --- 3. Ranks among each other

// Groups of ranks that are connected by common cpus, as indices. Only groups of two or more.
std::vector<std::vector<std::size_t>> overlapping_groups(const std::vector<RankView>& ranks) {
  std::vector<std::size_t> group_of(ranks.size());
  std::iota(group_of.begin(), group_of.end(), std::size_t{0});
  const std::function<std::size_t(std::size_t)> root = [&](std::size_t i) {
    return group_of[i] == i ? i : group_of[i] = root(group_of[i]);
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (ranks[i].mask.intersects(ranks[j].mask))
        group_of[std::max(root(i), root(j))] = std::min(root(i), root(j));
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < ranks.size(); ++i) groups[root(i)].push_back(i);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, members] : groups) {
    if (members.size() > 1) result.push_back(std::move(members));
  }
  return result;
}

// What to do about ranks that share cpus. Settings alone do not help where cpus are missing.
const char* advice_for_shared(const NodeView& node) {
  return sum_of_threads(node) > node.machine.allowed.count()
             ? "start fewer ranks or threads, or take more cpus: there are not enough for one "
               "each. 'hierbar place' then "
               "prints settings that give each rank its own"
             : "give each rank its own cpus: 'hierbar place' prints settings for mpiexec, srun and "
               "rankfiles";
}

void judge_group(const NodeView& node, const std::vector<std::size_t>& members, Report& report) {
  std::vector<std::uint32_t> ranks;
  CpuSet masks;
  CpuSet used;
  std::uint64_t threads = 0;
  bool all_bound = true;
  for (const std::size_t i : members) {
    const RankView& rank = node.ranks[i];
    ranks.push_back(rank.rank);
    masks |= rank.mask & node.machine.present;
    used |= cpus_of_team(rank);
    threads += rank.team.num_threads;
    all_bound = all_bound && rank.team.is_bound;
  }
  const char* advice = advice_for_shared(node);
  if (all_bound && threads > used.count() && !(masks - used).empty()) {
    report.add({FindingKind::kStackedThreads, ranks,
                count_of(threads, "thread") + " on " + count_of(used.count(), "cpu") +
                    ": the ranks are not bound, so each places its threads from the same cpu on",
                name_cpus(used) + ", while no thread is on " + name_cpus(masks - used), advice});
  }
  report.add({FindingKind::kOverlappingRanks, ranks,
              count_of(members.size(), "rank") + " may run on the same cpus, " +
                  count_of(threads, "thread") + " on " + count_of(masks.count(), "cpu"),
              name_cpus(masks), advice});
}

// Finds ranks that put two threads on one core, or that share a core, although all threads could
// have a core.
void find_smt_sharing(const NodeView& node, Report& report) {
  if (sum_of_threads(node) > num_cores(node.machine, node.machine.allowed)) return;
  for (const RankView& rank : node.ranks) {
    const CpuSet mask = rank.mask & node.machine.present;
    const std::uint32_t cores = num_cores(node.machine, mask);
    if (rank.team.num_threads <= cores || rank.team.num_threads > mask.count()) continue;
    report.add(
        FindingKind::kSmtSharing, rank,
        count_of(rank.team.num_threads, "thread") + " on " + count_of(cores, "core") +
            " while there are cores for all",
        name_cpus(mask),
        "bind each rank to as many cores as it has threads: 'hierbar place' puts cores first");
  }
  for (const Unit& core : node.machine.units) {
    if (!core.children.empty()) continue;
    const RankView* first = nullptr;
    for (const RankView& rank : node.ranks) {
      if (!core.cpus.intersects(rank.mask)) continue;
      if (first != nullptr && !first->mask.intersects(rank.mask)) {
        report.add(FindingKind::kSmtSharing, rank,
                   "shares a core with another rank while there are cores for all",
                   "core of " + name_cpus(core.cpus) + ", with rank " + std::to_string(first->rank),
                   "bind ranks to whole cores: '-bind-to core', '--cpu-bind=cores', or what "
                   "'hierbar place' prints");
        break;
      }
      first = &rank;
    }
  }
}

void find_quota(const NodeView& node, Report& report) {
  const std::uint64_t threads = sum_of_threads(node);
  if (!node.quota || threads <= *node.quota) return;
  Finding finding{FindingKind::kQuota,
                  {},
                  count_of(threads, "thread") + ", but control groups leave time for " +
                      count_of(*node.quota, "cpu"),
                  "the control group of this process (cpu.max or cpu.cfs_quota_us)",
                  "start at most as many threads as there is time for, or ask for more: threads "
                  "that have used up the quota are "
                  "stopped inside barriers"};
  for (const RankView& rank : node.ranks) finding.ranks.push_back(rank.rank);
  report.add(std::move(finding));
}

}  // namespace

const char* finding_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kStackedThreads:
      return "stacked-threads";
    case FindingKind::kOverlappingRanks:
      return "overlapping-ranks";
    case FindingKind::kSplitPackage:
      return "split-package";
    case FindingKind::kSplitNuma:
      return "split-numa";
    case FindingKind::kSmtSharing:
      return "smt-sharing";
    case FindingKind::kOfflineCpus:
      return "offline-cpus";
    case FindingKind::kForeignCpus:
      return "foreign-cpus";
    case FindingKind::kQuota:
      return "quota";
  }
  return "";
}

std::vector<Finding> find_problems(const NodeView& node) {
  Report report;
  for (const RankView& rank : node.ranks) find_stacked(rank, report);
  for (const auto& members : overlapping_groups(node.ranks)) judge_group(node, members, report);
  find_split(node, FindingKind::kSplitPackage, Level::kPackage, "package", report);
  find_split(node, FindingKind::kSplitNuma, Level::kNuma, "NUMA node", report);
  find_smt_sharing(node, report);
  for (const RankView& rank : node.ranks) {
    find_offline(node, rank, report);
    find_foreign(node, rank, report);
  }
  find_quota(node, report);
  return std::move(report).findings();
}

std::string join_ranks(const std::vector<std::uint32_t>& ranks) {
  CpuSet numbers;
  for (const std::uint32_t rank : ranks) numbers.set(rank);
  return numbers.to_string();
}

}  // namespace hierbar
