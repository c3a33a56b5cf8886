// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/unit_tree.hpp"

#include <algorithm>
#include <map>

namespace hierbar {
namespace {

using LabelsOfCpus = std::map<CpuSet, std::uint32_t>;

bool crosses(const CpuSet& a, const CpuSet& b) { return a.intersects(b) && !a.is_subset_of(b) && !b.is_subset_of(a); }

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
void add_numa(const SharedSets& sets, const CpuSet& core_heads, LabelsOfCpus& labels, std::vector<std::string>& warnings) {
  for (const CpuSet& set : sets.numa) {
    const CpuSet cpus = set & sets.present;
    if (cpus.empty()) continue;
    if (const auto same = labels.find(cpus); same != labels.end()) {
      same->second |= label_bit(Level::kNuma);
      continue;
    }
    const auto crossed = std::find_if(labels.begin(), labels.end(), [&](const auto& unit) { return crosses(cpus, unit.first); });
    if (crossed != labels.end()) {
      warnings.push_back("the NUMA node of cpus " + cpus.to_string() + " is ignored: it shares only a part of cpus " +
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
  for (std::size_t i = 1; i < by_size.size(); ++i) children[by_size[i].parent].push_back(static_cast<int>(i));

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
    units.push_back(Unit{by_size[visit.unit].cpus, by_size[visit.unit].labels, visit.parent, {}, depth});
    std::vector<int>& below = children[visit.unit];
    std::sort(below.begin(), below.end(), [&](int a, int b) { return by_size[b].cpus < by_size[a].cpus; });
    for (const int child : below) to_visit.push_back({child, index});
  }
  return units;
}

// For each unit: whether a unit above it has the label. Parents come first, so their results are
// known.
std::vector<bool> is_below(const std::vector<Unit>& units, Level level) {
  std::vector<bool> below(units.size(), false);
  for (std::size_t i = 1; i < units.size(); ++i) below[i] = below[units[i].parent] || units[units[i].parent].has(level);
  return below;
}

// Step 5. The walk goes backwards, so it meets the innermost group first. Step 6 decides between
// nested ones.
void name_clusters(std::vector<Unit>& units) {
  constexpr std::uint32_t kWider =
      label_bit(Level::kL3) | label_bit(Level::kDie) | label_bit(Level::kNuma) | label_bit(Level::kPackage);
  const std::vector<bool> inside_l3 = is_below(units, Level::kL3);
  std::vector<bool> holds_wider(units.size(), false);
  for (std::size_t i = units.size() - 1; i > 0; --i) {
    if (units[i].labels == 0 && inside_l3[i] && !holds_wider[i]) units[i].labels = label_bit(Level::kCluster);
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
  for (int level = 0; level < kNumLevels; ++level) keep_one_per_path(units, static_cast<Level>(level));
  return units;
}

}  // namespace hierbar
