// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/machine.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hierbar {
namespace {

using LabelsOfCpus = std::map<CpuSet, std::uint32_t>;

bool crosses(const CpuSet& a, const CpuSet& b) {
  return a.intersects(b) && !a.is_subset_of(b) && !b.is_subset_of(a);
}

// Steps 1 and 2. Returns the first cpu of every core.
CpuSet merge_nested(const SharedSets& sets, LabelsOfCpus& labels) {
  CpuSet in_no_core = sets.present;
  CpuSet core_heads;
  const auto add_core = [&](const CpuSet& core) {
    labels[core] |= label_bit(Level::kCore);
    core_heads.set(static_cast<std::uint32_t>(core.first()));
    in_no_core -= core;
  };
  for (const SharedSet& set : sets.nested) {
    const CpuSet cpus = set.cpus & sets.present;
    if ((set.labels & label_bit(Level::kCore)) != 0 && !cpus.empty()) add_core(cpus);
  }
  for (const std::uint32_t cpu : CpuSet(in_no_core)) add_core(CpuSet::range(cpu, cpu));

  for (const SharedSet& set : sets.nested) {
    const CpuSet cpus = set.cpus & sets.present;
    const std::uint32_t num_cores = (cpus & core_heads).count();
    const auto same = labels.find(cpus);
    if (same != labels.end()) {
      same->second |= set.labels;
    } else if (num_cores >= 2) {
      labels[cpus] = set.labels;
    }
  }
  labels[sets.present] |= label_bit(Level::kMachine);
  return core_heads;
}

// Step 3.
void add_numa(const SharedSets& sets, const CpuSet& core_heads, LabelsOfCpus& labels,
              std::vector<std::string>& warnings) {
  for (const CpuSet& set : sets.numa) {
    const CpuSet cpus = set & sets.present;
    if (cpus.empty()) continue;
    if (const auto same = labels.find(cpus); same != labels.end()) {
      same->second |= label_bit(Level::kNuma);
      continue;
    }
    const auto crossed = std::find_if(labels.begin(), labels.end(),
                                      [&](const auto& unit) { return crosses(cpus, unit.first); });
    if (crossed != labels.end()) {
      warnings.push_back("the NUMA node of cpus " + cpus.to_string() +
                         " is ignored: it shares only a part of cpus " +
                         crossed->first.to_string() + ", which belong together");
    } else if ((cpus & core_heads).count() >= 2) {
      labels[cpus] = label_bit(Level::kNuma);
    }
  }
}

// First half of step 4: units by decreasing size, with parents. `labels` has nested sets only.
std::vector<Unit> link_parents(const LabelsOfCpus& labels) {
  std::vector<Unit> units;
  for (const auto& [cpus, bits] : labels) units.push_back(Unit{cpus, bits, -1, {}, 0});
  std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    const std::uint32_t size_a = a.cpus.count();
    const std::uint32_t size_b = b.cpus.count();
    return size_a != size_b ? size_a > size_b : a.cpus < b.cpus;
  });
  std::vector<int> smallest_so_far(static_cast<std::size_t>(units.front().cpus.last()) + 1, -1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i].parent = smallest_so_far[static_cast<std::size_t>(units[i].cpus.first())];
    for (const std::uint32_t cpu : units[i].cpus) smallest_so_far[cpu] = static_cast<int>(i);
  }
  return units;
}

// Second half of step 4.
std::vector<Unit> in_walking_order(const std::vector<Unit>& by_size) {
  std::vector<std::vector<int>> children(by_size.size());
  for (std::size_t i = 1; i < by_size.size(); ++i)
    children[by_size[i].parent].push_back(static_cast<int>(i));

  struct Visit {
    int unit;    // in by_size
    int parent;  // in the result
  };
  std::vector<Unit> units;
  std::vector<Visit> to_visit{{0, -1}};
  while (!to_visit.empty()) {
    const Visit visit = to_visit.back();
    to_visit.pop_back();
    const int index = static_cast<int>(units.size());
    const int depth = visit.parent < 0 ? 0 : units[visit.parent].depth + 1;
    if (visit.parent >= 0) units[visit.parent].children.push_back(index);
    units.push_back(
        Unit{by_size[visit.unit].cpus, by_size[visit.unit].labels, visit.parent, {}, depth});
    std::vector<int>& below = children[visit.unit];
    std::sort(below.begin(), below.end(),
              [&](int a, int b) { return by_size[b].cpus < by_size[a].cpus; });
    for (const int child : below) to_visit.push_back({child, index});
  }
  return units;
}

// For each unit: whether a unit above it has the label. Parents come first, so their results are
// known.
std::vector<bool> is_below(const std::vector<Unit>& units, Level level) {
  std::vector<bool> below(units.size(), false);
  for (std::size_t i = 1; i < units.size(); ++i)
    below[i] = below[units[i].parent] || units[units[i].parent].has(level);
  return below;
}

// Step 5. The walk goes backwards, so it meets the innermost group first. Step 6 decides between
// nested ones.
void name_clusters(std::vector<Unit>& units) {
  // All labels between a cluster's and the machine's.
  constexpr std::uint32_t kWider = label_bit(Level::kMachine) - 2 * label_bit(Level::kCluster);
  const std::vector<bool> inside_l3 = is_below(units, Level::kL3);
  std::vector<bool> holds_wider(units.size(), false);
  for (std::size_t i = units.size() - 1; i > 0; --i) {
    if (units[i].labels == 0 && inside_l3[i] && !holds_wider[i])
      units[i].labels = label_bit(Level::kCluster);
    if (holds_wider[i] || (units[i].labels & kWider) != 0) holds_wider[units[i].parent] = true;
  }
}

// Step 6 for one label.
void keep_one_per_path(std::vector<Unit>& units, Level level) {
  std::vector<CpuSet> covered(units.size());  // by units below each unit that have the label
  for (std::size_t i = units.size(); i-- > 0;) {
    if (units[i].has(level) && covered[i] == units[i].cpus) units[i].labels &= ~label_bit(level);
    if (i > 0) covered[units[i].parent] |= units[i].has(level) ? units[i].cpus : covered[i];
  }
  const std::vector<bool> repeated = is_below(units, level);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (repeated[i]) units[i].labels &= ~label_bit(level);
  }
}

}  // namespace

std::vector<Unit> build_unit_tree(const SharedSets& sets, std::vector<std::string>& warnings) {
  LabelsOfCpus labels;
  const CpuSet core_heads = merge_nested(sets, labels);
  add_numa(sets, core_heads, labels, warnings);
  std::vector<Unit> units = in_walking_order(link_parents(labels));
  name_clusters(units);
  for (int level = 0; level < kNumLevels; ++level)
    keep_one_per_path(units, static_cast<Level>(level));
  return units;
}

int Machine::smallest_unit_containing(const CpuSet& cpus) const {
  const CpuSet here = cpus & present;
  if (here.empty()) return -1;
  int unit = 0;
  while (true) {
    const std::vector<int>& children = units[unit].children;
    const auto child = std::find_if(children.begin(), children.end(), [&](int index) {
      return here.is_subset_of(units[index].cpus);
    });
    if (child == children.end()) return unit;
    unit = *child;
  }
}

CpuSet Machine::one_cpu_per_core(const CpuSet& among) const {
  CpuSet chosen;
  for (const Unit& unit : units) {
    if (!unit.has(Level::kCore)) continue;
    if (const int cpu = (unit.cpus & among).first(); cpu >= 0)
      chosen.set(static_cast<std::uint32_t>(cpu));
  }
  return chosen;
}

namespace {

// What base/levels.h says of a level.
struct LevelEntry {
  Level level;
  std::string_view name;
  std::string_view other_name;
  int preference;
};
#define HIERBAR_LEVEL(unit, level, name, other_name, name_in_reports, preference) \
  {Level::level, name, other_name, preference},
constexpr std::array<LevelEntry, kNumLevels> kLevels{{HIERBAR_LEVELS(HIERBAR_LEVEL)}};
#undef HIERBAR_LEVEL

// Those on which barriers may gather, in the order in which they are kept; a later one that divides
// the cores alike is left out.
std::vector<Level> candidates() {
  std::vector<LevelEntry> entries;
  std::copy_if(kLevels.begin(), kLevels.end(), std::back_inserter(entries),
               [](const LevelEntry& entry) { return entry.preference > 0; });
  std::sort(entries.begin(), entries.end(),
            [](const LevelEntry& a, const LevelEntry& b) { return a.preference < b.preference; });
  std::vector<Level> levels;
  for (const LevelEntry& entry : entries) levels.push_back(entry.level);
  return levels;
}

// How one level divides the cores.
struct Division {
  Level level;
  std::vector<CpuSet> groups;  // the units with two or more of the cores, as these cores
  std::uint32_t largest = 0;   // cores in the largest one
};

Division divide(const Machine& machine, Level level, const CpuSet& cores) {
  Division division{level, {}, 0};
  for (const Unit& unit : machine.units) {
    if (!unit.has(level)) continue;
    CpuSet group = unit.cpus & cores;
    const std::uint32_t size = group.count();
    if (size < 2) continue;
    division.groups.push_back(std::move(group));
    division.largest = std::max(division.largest, size);
  }
  return division;
}

}  // namespace

const char* level_name(Level level) {
  return kLevels[static_cast<std::size_t>(level)]
      .name.data();  // ends with a zero, as it is a literal
}

std::string nameable_levels() {
  std::string text;
  for (const LevelEntry& entry : kLevels) {
    if (is_nameable(entry.level)) text.append(text.empty() ? "" : ", ").append(entry.name);
  }
  return text;
}

std::optional<Level> parse_level(std::string_view name) {
  const auto same = [name](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  };
  for (const LevelEntry& entry : kLevels) {
    if (same(entry.name) || (!entry.other_name.empty() && same(entry.other_name)))
      return entry.level;
  }
  return std::nullopt;
}

std::vector<Level> active_levels(const Machine& machine) {
  const CpuSet cores = machine.one_cpu_per_core(machine.allowed);
  std::vector<Division> kept;
  for (const Level level : candidates()) {
    Division division = divide(machine, level, cores);
    const bool repeats = std::any_of(kept.begin(), kept.end(), [&](const Division& other) {
      return other.groups == division.groups;
    });
    if (!division.groups.empty() && !repeats) kept.push_back(std::move(division));
  }
  // By size, not by name: a NUMA node may contain several packages, or be a part of an L3.
  std::sort(kept.begin(), kept.end(), [](const Division& a, const Division& b) {
    if (a.largest != b.largest) return a.largest < b.largest;
    if (a.groups.size() != b.groups.size()) return a.groups.size() < b.groups.size();
    return a.level < b.level;
  });
  std::vector<Level> levels;
  for (const Division& division : kept) levels.push_back(division.level);
  return levels;
}

std::uint32_t label_bits(const std::vector<Level>& levels) {
  std::uint32_t bits = 0;
  for (const Level level : levels) bits |= label_bit(level);
  return bits;
}

namespace {

std::string unit_name(std::size_t unit) { return "unit " + std::to_string(unit); }

// Checks a unit against its parent, which has been checked.
std::string place_problem(const Machine& machine, std::size_t index) {
  const Unit& unit = machine.units[index];
  if (unit.parent < 0 || static_cast<std::size_t>(unit.parent) >= index)
    return unit_name(index) + " comes before its parent";
  const Unit& parent = machine.units[static_cast<std::size_t>(unit.parent)];
  if (unit.depth != parent.depth + 1)
    return unit_name(index) + " is not one level below its parent";
  if (unit.cpus.empty() || unit.cpus == parent.cpus || !unit.cpus.is_subset_of(parent.cpus)) {
    return unit_name(index) + " is no part of its parent";
  }
  return "";
}

// Checks the children of a unit: they divide it, in the order of a walk.
std::string children_problem(const Machine& machine, std::size_t index) {
  const Unit& unit = machine.units[index];
  CpuSet covered;
  int before = static_cast<int>(index);
  for (const int child : unit.children) {
    if (child <= before || static_cast<std::size_t>(child) >= machine.units.size())
      return "the children of " + unit_name(index) + " are out of order";
    if (machine.units[static_cast<std::size_t>(child)].parent != static_cast<int>(index))
      return unit_name(index) + " has another unit's child";
    const CpuSet& cpus = machine.units[static_cast<std::size_t>(child)].cpus;
    if (cpus.intersects(covered)) return "two parts of " + unit_name(index) + " overlap";
    covered |= cpus;
    before = child;
  }
  const bool is_core = unit.has(Level::kCore);
  if (unit.children.empty() != is_core)
    return unit_name(index) + (is_core ? " is a core with parts" : " has no core");
  return is_core || covered == unit.cpus ? "" : unit_name(index) + " has cpus in none of its parts";
}

// Checks that each label occurs at most once on the path from the machine to a core.
std::string label_problem(const Machine& machine) {
  std::vector<std::uint32_t> above(machine.units.size(), 0);
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    const Unit& unit = machine.units[i];
    if (i > 0)
      above[i] = above[static_cast<std::size_t>(unit.parent)] |
                 machine.units[static_cast<std::size_t>(unit.parent)].labels;
    if (unit.labels >> kNumLevels != 0) return unit_name(i) + " has a label that is unknown";
    if ((unit.labels & above[i]) != 0) return unit_name(i) + " has a label of a unit around it";
  }
  return "";
}

}  // namespace

std::string machine_problem(const Machine& machine) {
  if (machine.present.empty() || machine.present.last() >= static_cast<int>(kMaxMachineCpus)) {
    return "its cpus are not 1 to " + std::to_string(kMaxMachineCpus);
  }
  if (!machine.allowed.is_subset_of(machine.present)) return "cpus are allowed that are not there";
  if (machine.line_bytes == 0 || machine.line_bytes > kMaxLineBytes) {
    return "lines of " + std::to_string(machine.line_bytes) + " bytes; allowed: 1 to " +
           std::to_string(kMaxLineBytes);
  }
  if (machine.units.empty() || machine.units[0].cpus != machine.present ||
      machine.units[0].parent != -1 || machine.units[0].depth != 0 ||
      (machine.units[0].labels & label_bit(Level::kMachine)) == 0) {
    return "its first unit is not the machine";
  }
  for (std::size_t i = 1; i < machine.units.size(); ++i) {
    if (std::string problem = place_problem(machine, i); !problem.empty()) return problem;
  }
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    if (std::string problem = children_problem(machine, i); !problem.empty()) return problem;
  }
  return label_problem(machine);
}

}  // namespace hierbar
