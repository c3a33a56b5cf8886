// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/arch/memory.hpp"
#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar {

namespace {

// The forest along which arrivals are gathered. At first everybody is a root. Each join() makes one
// tree of some roots. The root of a tree is always its lowest index.
class GatherForest {
 public:
  // Both must outlive the forest.
  GatherForest(const Machine& machine, const std::vector<LocalityPath>& paths);

  // Joins these roots, one at least and in topology order, into one tree, and returns its root. The
  // tree has as few levels as possible. Where the machine has units of at most kMaxGroupMembers
  // members (cores with SMT, clusters, shared L2 caches), these are the groups of the lowest level.
  std::uint32_t join(Members members);

  // Cuts `members`, given in topology order, into contiguous parts of at most max_part_size. The
  // parts are about equal. Of the cuts near the even ones it takes the one that separates the
  // least: members of one core stay together before members of one cluster do.
  // Requires 1 <= num_parts <= members.size() <= num_parts * max_part_size.
  std::vector<Members> split_evenly(const Members& members, std::size_t num_parts,
                                    std::size_t max_part_size) const;

  // The parent of each participant; a root's is its own index.
  const std::vector<std::uint32_t>& parents() const { return parents_; }

 private:
  std::vector<Members> lowest_groups(const Members& members) const;
  void collect_sub_units(const Members& members, int depth, std::vector<Members>& groups) const;
  std::size_t best_cut(const Members& members, std::size_t ideal, std::size_t first,
                       std::size_t last) const;

  const Machine& machine_;
  const std::vector<LocalityPath>& paths_;
  std::vector<std::uint32_t> parents_;
};

GatherForest::GatherForest(const Machine& machine, const std::vector<LocalityPath>& paths)
    : machine_(machine), paths_(paths), parents_(paths.size()) {
  std::iota(parents_.begin(), parents_.end(), 0U);
}

std::uint32_t GatherForest::join(Members members) {
  while (members.size() > kMaxGroupMembers) {
    Members leaders;
    for (Members& group : lowest_groups(members)) leaders.push_back(join(std::move(group)));
    members = std::move(leaders);
  }
  const std::uint32_t leader = *std::min_element(members.begin(), members.end());
  for (const std::uint32_t member : members) parents_[member] = leader;
  return leader;
}

// The machine's units, if they make at most one more level; otherwise even parts.
std::vector<Members> GatherForest::lowest_groups(const Members& members) const {
  std::vector<Members> groups;
  collect_sub_units(members, 1, groups);
  const bool useful = groups.size() <= kMaxGroupMembers &&
                      std::all_of(groups.begin(), groups.end(), [](const Members& group) {
                        return group.size() <= kMaxGroupMembers;
                      });
  if (useful) return groups;
  const std::size_t num_chunks = (members.size() + kMembersOfSmallGroup - 1) / kMembersOfSmallGroup;
  return split_evenly(members, num_chunks, kMembersOfSmallGroup);
}

// Follows the machine's tree down from `depth` until every group is small enough, or the tree ends.
void GatherForest::collect_sub_units(const Members& members, int depth,
                                     std::vector<Members>& groups) const {
  for (auto begin = members.begin(); begin != members.end();) {
    const int unit = paths_[*begin].unit_at_depth(depth);
    const auto end = std::find_if(begin, members.end(), [&](std::uint32_t m) {
      return paths_[m].unit_at_depth(depth) != unit;
    });
    Members group(begin, end);
    if (unit >= 0 && group.size() > kMaxGroupMembers) {
      collect_sub_units(group, depth + 1, groups);
    } else {
      groups.push_back(std::move(group));
    }
    begin = end;
  }
}

std::vector<Members> GatherForest::split_evenly(const Members& members, std::size_t num_parts,
                                                std::size_t max_part_size) const {
  const std::size_t size = members.size();
  const std::size_t slack = std::max<std::size_t>(1, size / num_parts / 4);
  std::vector<Members> parts;
  std::size_t begin = 0;
  for (std::size_t part = 1; part <= num_parts; ++part) {
    const std::size_t parts_after = num_parts - part;
    const std::size_t needed = parts_after * max_part_size;  // room in the parts after this one
    const std::size_t lowest = std::max(begin + 1, size > needed ? size - needed : 0);
    const std::size_t highest = std::min(begin + max_part_size, size - parts_after);
    const std::size_t ideal = std::clamp(part * size / num_parts, lowest, highest);
    const std::size_t end =
        best_cut(members, ideal, std::max(lowest, ideal - std::min(ideal, slack)),
                 std::min(highest, ideal + slack));
    parts.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(begin),
                       members.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  return parts;
}

// The cut in [first, last] between the two members that share the least. Of equal ones it is the
// nearest to `ideal`, then the lower.
std::size_t GatherForest::best_cut(const Members& members, std::size_t ideal, std::size_t first,
                                   std::size_t last) const {
  const auto cost = [&](std::size_t cut) {
    const int shared = cut == members.size()
                           ? -1
                           : shared_depth(machine_, paths_[members[cut - 1]].smallest(),
                                          paths_[members[cut]].smallest());
    return std::pair(shared, cut > ideal ? cut - ideal : ideal - cut);
  };
  std::size_t best = first;
  for (std::size_t cut = first + 1; cut <= last; ++cut) {
    if (cost(cut) < cost(best)) best = cut;
  }
  return best;
}

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Steps 1 to 3: the participants that one leader gathers. The unit is their domain's.
using Part = Domain;

bool outnumbers_cpus(std::size_t num_participants, const ShapeOptions& options) {
  return options.num_cpus != 0 && num_participants > options.num_cpus;
}

// How many leaders should exchange, unless the machine decides.
std::size_t num_wanted_leaders(std::size_t num_participants) {
  const std::size_t fewest = std::min(kFewLeaders, divide_up(num_participants, kFewLeaders));
  return std::clamp(divide_up(num_participants, kMembersPerLeader), fewest, kManyLeaders);
}

// For one of several domains that are cut by size only.
std::size_t num_parts_by_size(std::size_t size) { return divide_up(size, kMaxDomainMembers); }

std::size_t num_parts_when_oversubscribed(std::size_t size, bool alone) {
  return alone ? std::min(kMaxLeaders, divide_up(size, kFewLeaders)) : num_parts_by_size(size);
}

// The domain's share of the leaders, rounded, one at least.
std::size_t num_parts_by_share(std::size_t size, std::size_t num_participants) {
  const std::size_t leaders = num_wanted_leaders(num_participants);
  return std::max<std::size_t>(1, (2 * size * leaders + num_participants) / (2 * num_participants));
}

std::vector<Part> divide_into_parts(const std::vector<Domain>& domains,
                                    std::size_t num_participants, const ShapeOptions& options,
                                    const GatherForest& forest) {
  const bool alone = domains.size() == 1;
  const bool oversubscribed = outnumbers_cpus(num_participants, options);
  const auto num_parts = [&](std::size_t size) {
    if (num_participants <= kMaxAlwaysFlat) return size;
    if (oversubscribed) return num_parts_when_oversubscribed(size, alone);
    if (options.domain_level && !alone) return num_parts_by_size(size);
    if (num_participants <= (alone ? kMaxFlatDomain : kMaxFlatTeam)) return size;
    return num_parts_by_share(size, num_participants);
  };
  std::vector<Part> parts;
  for (const Domain& domain : domains) {
    const std::size_t size = domain.members.size();
    for (Members& members : forest.split_evenly(domain.members, num_parts(size), size)) {
      parts.push_back(Part{domain.unit, std::move(members)});
    }
  }
  return parts;
}

// Steps 4 and 5. Returns the leaders that exchange, in ascending order.
std::vector<std::uint32_t> gather(const std::vector<Part>& parts, GatherForest& forest) {
  Members leaders;
  for (const Part& part : parts) leaders.push_back(forest.join(part.members));
  if (leaders.size() > kMaxLeaders) {
    const std::size_t group_size = divide_up(leaders.size(), kManyLeaders);
    const auto groups =
        forest.split_evenly(leaders, divide_up(leaders.size(), group_size), group_size + 1);
    leaders.clear();
    for (const Members& group : groups) leaders.push_back(forest.join(group));
  }
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

// In place of steps 1 to 4, if the number of leaders is given. Returns them in ascending order.
std::vector<std::uint32_t> gather_equal_parts(std::size_t num_leaders,
                                              const std::vector<Domain>& domains,
                                              GatherForest& forest) {
  Members all;
  for (const Domain& domain : domains)
    all.insert(all.end(), domain.members.begin(), domain.members.end());
  Members leaders;
  for (Members& part : forest.split_evenly(all, std::min(num_leaders, all.size()), all.size())) {
    leaders.push_back(forest.join(std::move(part)));
  }
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

// Sets the parents and children of the plan's nodes.
void set_edges(const std::vector<std::uint32_t>& parents, EnginePlan& plan) {
  const auto num_participants = static_cast<std::uint32_t>(parents.size());
  plan.nodes.assign(num_participants, hierbar_plan_node{});
  for (std::uint32_t i = 0; i < num_participants; ++i) {
    plan.nodes[i].parent = parents[i];
    if (parents[i] != i) ++plan.nodes[parents[i]].num_children;
  }
  std::uint32_t next = 0;
  std::vector<std::uint32_t> free_position(num_participants);
  for (std::uint32_t i = 0; i < num_participants; ++i) {
    free_position[i] = plan.nodes[i].first_child = next;
    next += plan.nodes[i].num_children;
  }
  plan.children.resize(next);
  for (std::uint32_t i = 0; i < num_participants; ++i) {
    if (parents[i] != i) plan.children[free_position[parents[i]]++] = i;
  }
}

// The gather levels, the exchange, and the same levels back. A parent has a lower index than its
// children, so one pass is enough.
std::uint32_t line_transfers(const EnginePlan& plan) {
  std::vector<std::uint32_t> level(plan.nodes.size(), 0);
  std::uint32_t num_levels = 0;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (plan.nodes[i].parent == i) continue;
    level[i] = level[plan.nodes[i].parent] + 1;
    num_levels = std::max(num_levels, level[i]);
  }
  return 2 * num_levels + (plan.leaders.size() > 1 ? 1 : 0);
}

bool takes_crews(const std::vector<Domain>& domains, std::size_t num_participants,
                 const ShapeOptions& options) {
  return domains.size() == 1 && num_participants > kMaxAlwaysFlat &&
         outnumbers_cpus(num_participants, options) && options.num_cpus <= kMaxCpusOfCrews;
}

// Step 1 for participants that outnumber their cpus.
void form_crews(const std::vector<LocalityPath>& paths, EnginePlan& plan) {
  std::map<int, std::vector<std::uint32_t>> crews;  // by unit
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) crews[paths[i].smallest()].push_back(i);
  for (const auto& [unit, members] : crews) {
    for (const std::uint32_t member : members) {
      plan.nodes[member].crew = members.front();
      plan.nodes[member].crew_size = static_cast<std::uint32_t>(members.size());
    }
  }
  plan.num_crews = static_cast<std::uint32_t>(crews.size());
}

// Step 6.
void assign_slots(const std::vector<Domain>& domains, const std::vector<LocalityPath>& paths,
                  const Machine& machine, std::uint32_t page_bytes, EnginePlan& plan) {
  if (plan.nodes.size() <= kMaxAlwaysFlat) {
    for (hierbar_plan_node& node : plan.nodes) node.slot = plan.num_slots++;
    return;
  }
  const auto numa_node = [&](std::uint32_t participant) {
    return enclosing_unit(machine, paths[participant], Level::kNuma);
  };
  const std::uint32_t slots_per_page =
      std::max(1U, page_bytes / (HIERBAR_LINES_PER_SLOT * plan.line_bytes));
  int current_node = numa_node(domains.front().members.front());
  for (const Domain& domain : domains) {
    for (const std::uint32_t participant : domain.members) {
      const int node = numa_node(participant);
      if (node != current_node) {
        plan.num_slots =
            static_cast<std::uint32_t>(divide_up(plan.num_slots, slots_per_page)) * slots_per_page;
        current_node = node;
      }
      plan.nodes[participant].slot = plan.num_slots++;
    }
  }
}

}  // namespace

std::string team_size_problem(std::uint64_t num_participants) {
  if (num_participants >= 1 && num_participants <= kMaxParticipants) return {};
  return "a plan has 1 to " + std::to_string(kMaxParticipants) + " participants, not " +
         std::to_string(num_participants);
}

hierbar_plan EnginePlan::view() const {
  return hierbar_plan{HIERBAR_PLAN_ABI_VERSION,
                      static_cast<std::uint32_t>(nodes.size()),
                      static_cast<std::uint32_t>(leaders.size()),
                      num_slots,
                      static_cast<std::uint32_t>(release),
                      line_bytes,
                      depth,
                      is_tuned ? 1U : 0U,
                      num_crews,
                      nodes.data(),
                      children.data(),
                      leaders.data()};
}

Result<EnginePlan> build_engine_plan(const std::vector<LocalityPath>& paths, const Machine& machine,
                                     const ShapeOptions& options) {
  if (const std::string problem = team_size_problem(paths.size()); !problem.empty())
    return Error{problem};
  const Level level = domain_level(machine, options.domain_level);
  const std::vector<Domain> domains = partition_into_domains(machine, paths, level);
  const bool has_crews = options.num_leaders == 0 && takes_crews(domains, paths.size(), options);
  GatherForest forest(machine, paths);

  EnginePlan plan;
  plan.release = options.release;
  plan.is_tuned = options.is_tuned;
  plan.line_bytes = line_distance(machine.line_bytes);
  if (has_crews) {
    plan.leaders.resize(paths.size());
    std::iota(plan.leaders.begin(), plan.leaders.end(), 0U);
  } else if (options.num_leaders != 0) {
    plan.leaders = gather_equal_parts(options.num_leaders, domains, forest);
  } else {
    plan.leaders = gather(divide_into_parts(domains, paths.size(), options, forest), forest);
  }
  set_edges(forest.parents(), plan);
  if (has_crews) form_crews(paths, plan);
  assign_slots(domains, paths, machine, options.page_bytes, plan);
  plan.depth = line_transfers(plan);
  return plan;
}

}  // namespace hierbar
