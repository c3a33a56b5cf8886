// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/group_units.hpp"

#include <bit>

#include "base/unit.h"

namespace hierbar {
namespace {

static_assert(HIERBAR_UNIT_CORE == 1 + static_cast<int>(Level::kCore) && HIERBAR_UNIT_L3 == 1 + static_cast<int>(Level::kL3) &&
              HIERBAR_UNIT_MACHINE == 1 + static_cast<int>(Level::kMachine) && HIERBAR_NUM_UNITS == 1 + kNumLevels);

// The smallest unit that holds all that were added, and its name.
class CommonUnit {
 public:
  CommonUnit(const Machine& machine, const LocalityPath& first) : machine_(machine) { add(first); }

  void add(const LocalityPath& path) {
    known_ = known_ && path.bound;
    if (!known_) return;
    if (unit_ < 0) unit_ = path.smallest();
    const int depth = shared_depth(machine_, unit_, path.smallest());
    while (machine_.units[static_cast<std::size_t>(unit_)].depth > depth) up();
  }
  // The name of the unit. Of several names it is the lowest level's: threads that share an L3 are
  // reported as such, and not as sharing a package.
  std::uint8_t code() {
    if (!known_) return HIERBAR_UNIT_UNKNOWN;
    while (labels() == 0) up();
    return static_cast<std::uint8_t>(1 + std::countr_zero(labels()));
  }

 private:
  std::uint32_t labels() const { return machine_.units[static_cast<std::size_t>(unit_)].labels; }
  void up() { unit_ = machine_.units[static_cast<std::size_t>(unit_)].parent; }

  const Machine& machine_;
  int unit_ = -1;
  bool known_ = true;
};

}  // namespace

GroupUnits find_group_units(const hierbar_plan& plan, const Machine& machine, const std::vector<LocalityPath>& paths) {
  GroupUnits units;
  units.gather.resize(plan.num_participants, HIERBAR_UNIT_UNKNOWN);
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    if (node.num_children == 0) continue;
    CommonUnit common(machine, paths[i]);
    for (std::uint32_t k = 0; k < node.num_children; ++k) common.add(paths[plan.children[node.first_child + k]]);
    units.gather[i] = common.code();
  }
  CommonUnit common(machine, paths[plan.leaders[0]]);
  for (std::uint32_t k = 1; k < plan.num_leaders; ++k) common.add(paths[plan.leaders[k]]);
  units.exchange = common.code();
  return units;
}

}  // namespace hierbar
