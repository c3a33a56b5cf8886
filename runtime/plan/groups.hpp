// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/locality.hpp"
#include "plan/plan.h"
#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The groups of the hierarchical barrier by M. G. Kurnosov (Vestnik SibGUTI 16(2), 2022, section
// 2.1). The engine is compared with them, and the levels that a user names are levels of these
// groups.
//
//   1. From the lowest active level up, participants that share a unit of the level form a group.
//   2. The lowest index of a group is its leader. The leaders are the members of the next level.
//   3. A last group, TOP, joins the leaders of the highest level.
struct Group {
  std::vector<std::uint32_t> members;  // ascending, never empty

  std::uint32_t leader() const { return members.front(); }
};

struct GroupLevel {
  std::optional<Level> level;  // empty: TOP
  std::vector<Group> groups;   // ascending by leader
};

struct GroupTree {
  std::vector<GroupLevel> levels;  // G1, G2, ..., TOP; empty if the algorithm steps aside
  std::string stepped_aside;       // why there are no groups; empty if there are
  // Line transfers on the longest path: one for each level that gathers, one for the global sense.
  std::uint32_t depth = 0;
};

// Builds the groups for `levels`, which are given lowest first. A participant that is bound more
// widely than a unit of a level shares nothing there: it is a group of its own on that level and
// goes on to the next. The algorithm steps aside, as in the paper, if a participant is unbound or
// bound more widely than the units of all levels. O(levels x participants).
GroupTree build_group_tree(const std::vector<LocalityPath>& paths, const Machine& machine,
                           const std::vector<Level>& levels);

// The paper's groups as a plan, for the algorithm `topo` (docs/design/engine.md#d0013). The leaders
// are the members of TOP. The children of a participant are the members of the groups below TOP
// that it leads, from the lowest level up, which is the order in which it polls them. Children
// ascend within a level, but not over all levels of a participant, so the plan is not fit for
// ordered reductions.
//
// Slots, and everything else, are those of `engine`, the plan of the same participants. The error
// says why the algorithm steps aside.
Result<EnginePlan> build_group_plan(const GroupTree& tree, const EnginePlan& engine);

// What the participants of each group of a plan have in common, for reports on its levels.
struct GroupUnits {
  // For each participant: the smallest named unit that holds it and all from which it gathers, as
  // hierbar_unit (base/levels.h). Unknown if it gathers from nobody, or if one of them is unbound.
  std::vector<std::uint8_t> gather;
  std::uint8_t exchange = 0;  // the same of all leaders
};

// `paths` has the location of each participant. O(participants x depth of the machine's tree).
GroupUnits find_group_units(const hierbar_plan& plan, const Machine& machine,
                            const std::vector<LocalityPath>& paths);

}  // namespace hierbar
