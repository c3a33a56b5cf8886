// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/plan_text.hpp"

#include <algorithm>

#include "plan/shape.hpp"

namespace hierbar {
namespace {

// More lines than this are of no use on a screen; `hierbar plan --json` has all of them.
constexpr std::size_t kMaxParentLines = 160;
constexpr std::size_t kMaxGroupsPerLine = 64;
constexpr std::size_t kMaxRunsPerGroup = 128;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string format_groups(const std::vector<Group>& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < kMaxGroupsPerLine; ++i) {
    if (i > 0) text += ", ";
    text += format_members(groups[i].members);
  }
  if (groups.size() > kMaxGroupsPerLine)
    text += ", ... " + counted(groups.size() - kMaxGroupsPerLine, "more group");
  return text;
}

std::string format_arities(const hierbar_plan& plan) {
  std::string text = "exchange " + std::to_string(plan.num_leaders);
  const char* separator = "; gather ";
  for (const auto& [num_children, num_parents] : gather_arities(plan)) {
    text += separator + std::to_string(num_children) + " (" + std::to_string(num_parents) + "x)";
    separator = ", ";
  }
  return text;
}

std::string format_bytes(std::uint64_t bytes) {
  return bytes < 1024 ? counted(bytes, "byte") : std::to_string(bytes / 1024) + " KiB";
}

// The trees below the leaders: one line for each parent, indented by level.
class ForestLines {
 public:
  ForestLines(const hierbar_plan& plan, std::vector<std::string>& lines)
      : plan_(plan), lines_(lines) {
    for (std::uint32_t i = 0; i < plan.num_leaders; ++i) add(plan.leaders[i], 0);
    if (num_parents_ > kMaxParentLines) {
      lines_.push_back("    ... " + counted(num_parents_ - kMaxParentLines, "more parent"));
    }
  }

 private:
  void add(std::uint32_t parent, std::size_t level) {
    const hierbar_plan_node& node = plan_.nodes[parent];
    if (node.num_children == 0) return;
    const std::uint32_t* first = plan_.children + node.first_child;
    const std::vector<std::uint32_t> children(first, first + node.num_children);
    if (++num_parents_ <= kMaxParentLines) {
      lines_.push_back(std::string(4 + 2 * level, ' ') + std::to_string(parent) + " <- " +
                       format_members(children));
    }
    for (const std::uint32_t child : children) add(child, level + 1);
  }

  const hierbar_plan& plan_;
  std::vector<std::string>& lines_;
  std::size_t num_parents_ = 0;
};

}  // namespace

std::string format_members(const std::vector<std::uint32_t>& members) {
  std::string text = "{";
  std::size_t num_runs = 0;
  for (std::size_t first = 0; first < members.size();) {
    if (++num_runs > kMaxRunsPerGroup)
      return text + ",... " + std::to_string(members.size() - first) + " more}";
    std::size_t last = first;
    while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
    if (last < first + 2) last = first;  // two numbers in a row are easier to read as two numbers
    if (first > 0) text += ",";
    text += std::to_string(members[first]);
    if (last > first) text += ".." + std::to_string(members[last]);
    first = last + 1;
  }
  return text + "}";
}

const char* release_name(std::uint32_t release) {
  return release == HIERBAR_RELEASE_LINES ? "lines" : "flags";
}

std::string group_level_name(const GroupLevel& level) {
  return level.level ? level_name(*level.level) : "top";
}

std::string group_level_number(std::size_t index) {
  std::string number = "G";
  return number += std::to_string(index + 1);
}

std::uint32_t num_gather_levels(const hierbar_plan& plan) { return plan.depth / 2; }

std::map<std::uint32_t, std::uint32_t> gather_arities(const hierbar_plan& plan) {
  std::map<std::uint32_t, std::uint32_t> arities;
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    if (plan.nodes[i].num_children > 0) ++arities[plan.nodes[i].num_children];
  }
  return arities;
}

std::vector<std::vector<std::uint32_t>> crews_of(const hierbar_plan& plan) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; plan.num_crews != 0 && i < plan.num_participants; ++i)
    members[plan.nodes[i].crew].push_back(i);
  std::vector<std::vector<std::uint32_t>> crews;
  for (auto& [crew, those] : members) crews.push_back(std::move(those));
  return crews;
}

std::vector<std::string> describe_group_tree(const GroupTree& tree) {
  if (!tree.stepped_aside.empty()) return {"paper: no groups: " + tree.stepped_aside};
  std::vector<std::string> lines{"paper: " + counted(tree.levels.size(), "level") +
                                 " of groups, depth " + counted(tree.depth, "line transfer")};
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    const std::string name =
        padded(group_level_number(i), 4) + padded(group_level_name(tree.levels[i]), 9);
    lines.push_back("  " + name + format_groups(tree.levels[i].groups));
  }
  return lines;
}

std::vector<std::string> describe_engine_plan(const hierbar_plan& plan) {
  const std::string gather_levels = std::to_string(num_gather_levels(plan));
  const std::uint64_t bytes =
      std::uint64_t{plan.num_slots} * HIERBAR_LINES_PER_SLOT * plan.line_bytes;
  std::vector<std::string> lines{
      "engine: " + counted(plan.num_participants, "participant") + ", depth " +
          counted(plan.depth, "line transfer"),
      "  phases   gather " + gather_levels + ", exchange " + (plan.num_leaders > 1 ? "1" : "0") +
          ", release " + gather_levels + " (" + release_name(plan.release) + ")",
      "  leaders  " +
          format_members(std::vector<std::uint32_t>(plan.leaders, plan.leaders + plan.num_leaders)),
      "  arity    " + format_arities(plan),
      "  slots    " + std::to_string(plan.num_slots) + " of " +
          std::to_string(HIERBAR_LINES_PER_SLOT) + " lines of " + std::to_string(plan.line_bytes) +
          " bytes (" + format_bytes(bytes) + ")"};
  if (plan.num_crews != 0) {
    std::string crews = "  crews   ";
    for (const auto& members : crews_of(plan)) crews += " " + format_members(members);
    lines.push_back(crews +
                    ": counted in place of the exchange, since participants outnumber cpus");
  }
  if (plan.is_tuned != 0) lines.emplace_back("  shape    from the profile of this machine");
  if (plan.num_leaders < plan.num_participants) lines.push_back("  gather");
  ForestLines(plan, lines);
  return lines;
}

}  // namespace hierbar
