// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/machine_text.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "topology/machine.hpp"
#include "topology/sequence_order.hpp"

namespace hierbar {
namespace {

constexpr std::size_t kMaxListed = 4;       // sets of cpus named on one line
constexpr std::size_t kMaxListLength = 32;  // characters of one of them
constexpr std::size_t kMaxCpusLength = 80;  // characters of all, beyond which fewer are named

std::string counted(std::uint32_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string shortened(const CpuSet& cpus) {
  std::string list = cpus.to_string();
  if (list.size() <= kMaxListLength) return list;
  return list.substr(0, list.rfind(',', kMaxListLength - 4)) + ",...";
}

struct Row {
  std::string unit;
  std::string holds;
  std::string cpus;
};

class TreePrinter {
 public:
  TreePrinter(const Machine& machine, const std::vector<Level>& active, Detail detail)
      : machine_(machine),
        active_(label_bits(active)),
        detail_(detail),
        cores_(machine.one_cpu_per_core(machine.present)),
        allowed_cores_(machine.one_cpu_per_core(machine.allowed)) {
    find_shapes();
  }

  std::vector<Row> rows() {
    const int root = 0;
    add(std::span(&root, 1), 0);
    return std::move(rows_);
  }

 private:
  // Units with equal shapes differ in their cpu numbers only.
  void find_shapes() {
    std::map<std::vector<std::uint32_t>, int, BySequence> known;
    shapes_.resize(machine_.units.size());
    for (std::size_t i = machine_.units.size(); i-- > 0;) {
      const Unit& unit = machine_.units[i];
      std::vector<std::uint32_t> shape{unit.labels, unit.cpus.count(),
                                       (unit.cpus & machine_.allowed).count()};
      for (const int child : unit.children)
        shape.push_back(static_cast<std::uint32_t>(shapes_[child]));
      shapes_[i] = known.emplace(std::move(shape), static_cast<int>(known.size())).first->second;
    }
  }

  // Adds one row for units of the same shape, and below it the rows of the first one's children.
  void add(std::span<const int> alike, std::size_t depth) {
    const Unit& unit = machine_.units[alike.front()];
    std::string name(2 * depth, ' ');
    if (alike.size() > 1) name += std::to_string(alike.size()) + " x ";
    rows_.push_back(Row{name + labels(unit), holds(unit), cpus(alike)});

    for (std::span<const int> rest(unit.children); !rest.empty();) {
      const auto differs = [&](int child) {
        return detail_ == Detail::kEveryUnit || shapes_[child] != shapes_[rest.front()];
      };
      const auto end = std::find_if(rest.begin() + 1, rest.end(), differs);
      const auto run = static_cast<std::size_t>(end - rest.begin());
      if (run == unit.children.size() && says_no_more(machine_.units[rest.front()])) return;
      add(rest.first(run), depth + 1);
      rest = rest.subspan(run);
    }
  }

  // True of a core of one cpu: the row above tells how many cores and which cpus these are.
  bool says_no_more(const Unit& unit) const {
    return detail_ == Detail::kCollapsed && unit.labels == label_bits({Level::kCore}) &&
           unit.cpus.count() == 1;
  }

  std::string labels(const Unit& unit) const {
    const bool shared = (unit.cpus & allowed_cores_).count() >= 2;
    std::string text;
    for (int level = kNumLevels - 1; level >= 0; --level) {
      if (!unit.has(static_cast<Level>(level))) continue;
      text += text.empty() ? "" : " + ";
      text += level_name(static_cast<Level>(level));
      if (shared && ((active_ >> level) & 1U) != 0) text += '*';
    }
    return text.empty() ? "group" : text;
  }

  std::string holds(const Unit& unit) const {
    const std::uint32_t num_cpus = unit.cpus.count();
    const std::uint32_t num_allowed = (unit.cpus & machine_.allowed).count();
    std::string text = unit.has(Level::kCore) ? counted(num_cpus, "cpu")
                                              : counted((unit.cpus & cores_).count(), "core");
    if (num_allowed == num_cpus) return text;
    if (num_allowed == 0) return text + ", none allowed";
    return text + ", " + counted(num_allowed, "cpu") + " allowed";
  }

  std::string cpus(std::span<const int> alike) const {
    std::size_t num_first = alike.size() > kMaxListed ? kMaxListed - 2 : alike.size() - 1;
    std::string text = cpus(alike, num_first);
    while (text.size() > kMaxCpusLength && num_first > 1) text = cpus(alike, --num_first);
    return text;
  }

  // The cpus of so many of the first units, at least of one, and of the last.
  std::string cpus(std::span<const int> alike, std::size_t num_first) const {
    const auto list = [&](int unit) {
      const CpuSet& set = machine_.units[unit].cpus;
      return detail_ == Detail::kEveryUnit ? set.to_string() : shortened(set);
    };
    std::string text = list(alike.front());
    for (std::size_t i = 1; i < num_first; ++i) text += " | " + list(alike[i]);
    if (num_first + 1 < alike.size()) text += " | ...";
    if (alike.size() > 1) text += " | " + list(alike.back());
    return text;
  }

  const Machine& machine_;
  const std::uint32_t active_;
  const Detail detail_;
  const CpuSet cores_;          // one cpu of each core
  const CpuSet allowed_cores_;  // one allowed cpu of each core that has one
  std::vector<int> shapes_;     // by unit
  std::vector<Row> rows_;
};

// "4 of 32 cores", "8 of 3 to 6 cores": how many shared units the level has, and how many allowed
// cores these have.
std::string division(const Machine& machine, Level level) {
  const CpuSet cores = machine.one_cpu_per_core(machine.allowed);
  std::uint32_t num_units = 0;
  std::uint32_t smallest = UINT32_MAX;
  std::uint32_t largest = 0;
  for (const Unit& unit : machine.units) {
    const std::uint32_t size = unit.has(level) ? (unit.cpus & cores).count() : 0;
    if (size < 2) continue;
    ++num_units;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  const std::string range = smallest == largest ? "" : std::to_string(smallest) + " to ";
  return std::to_string(num_units) + " of " + range + std::to_string(largest) + " cores";
}

std::vector<std::string> summary(const Machine& machine, const std::vector<Level>& active) {
  const std::string allowed = machine.allowed == machine.present
                                  ? "all allowed"
                                  : std::to_string(machine.allowed.count()) + " allowed (" +
                                        machine.allowed.to_string() + ")";
  const std::string l3 = machine.l3_bytes == 0
                             ? "no L3 known"
                             : format_text("L3 of %.3g MiB", machine.l3_bytes / 1048576.0);
  std::string levels;
  for (const Level level : active) {
    levels += std::string(levels.empty() ? "" : ", ") + level_name(level) + " (" +
              division(machine, level) + ")";
  }
  return {
      machine.name,
      counted(machine.one_cpu_per_core(machine.present).count(), "core") + ", " +
          counted(machine.present.count(), "cpu") + " (" + machine.present.to_string() + "), " +
          allowed,
      "coherence lines of " + std::to_string(machine.line_bytes) + " bytes, " + l3 +
          format_text("; loaded in %.1f ms", static_cast<double>(machine.load_ns) * 1e-6),
      "active levels (*): " + (levels.empty() ? "none, no two allowed cores share one" : levels)};
}

}  // namespace

std::vector<std::string> describe(const Machine& machine, Detail detail) {
  const std::vector<Level> active = active_levels(machine);
  std::vector<std::string> lines = summary(machine, active);
  lines.emplace_back();

  std::vector<Row> rows = TreePrinter(machine, active, detail).rows();
  rows.insert(rows.begin(), Row{"unit", "holds", "cpus"});
  std::size_t unit_width = 0;
  std::size_t holds_width = 0;
  for (const Row& row : rows) {
    unit_width = std::max(unit_width, row.unit.size() + 2);
    holds_width = std::max(holds_width, row.holds.size() + 2);
  }
  for (Row& row : rows) {
    row.unit.resize(unit_width, ' ');
    row.holds.resize(holds_width, ' ');
    lines.push_back(row.unit + row.holds + row.cpus);
  }
  return lines;
}

}  // namespace hierbar
