// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/soundness.hpp"

#include <bit>
#include <span>
#include <vector>

#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMaxSlots = 1U << 24;

// Every participant is in the crew of its lowest member, crew sizes are right, and nobody gathers.
bool crews_are_sound(const hierbar_plan& plan) {
  if (plan.num_crews == 0) return true;
  std::vector<std::uint32_t> sizes(plan.num_participants);
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    const std::uint32_t crew = plan.nodes[p].crew;
    if (crew > p || plan.nodes[crew].crew != crew) return false;
    ++sizes[crew];
  }
  std::uint32_t num_crews = 0;
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    if (plan.nodes[p].crew_size != sizes[plan.nodes[p].crew]) return false;
    if (plan.nodes[p].crew == p) ++num_crews;
  }
  return num_crews == plan.num_crews && plan.num_leaders == plan.num_participants;
}

}  // namespace

bool has_possible_numbers(const hierbar_plan& plan) {
  return plan.num_participants >= 1 && plan.num_participants <= kMaxParticipants &&
         plan.num_leaders >= 1 && plan.num_leaders <= plan.num_participants &&
         plan.num_slots >= plan.num_participants && plan.num_slots <= kMaxSlots &&
         std::has_single_bit(plan.line_bytes) && plan.line_bytes >= 64 &&
         plan.line_bytes <= kMaxLineBytes && plan.release <= HIERBAR_RELEASE_LINES;
}

bool is_sound(const hierbar_plan& plan) {
  if (!has_possible_numbers(plan)) return false;
  const std::uint32_t num_members = plan.num_participants - plan.num_leaders;
  std::vector<bool> slot_is_taken(plan.num_slots);
  std::vector<bool> is_child(plan.num_participants);
  std::uint32_t num_leaders = 0;
  std::uint32_t num_children = 0;
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    const hierbar_plan_node& node = plan.nodes[p];
    if (node.slot >= plan.num_slots || slot_is_taken[node.slot]) return false;
    slot_is_taken[node.slot] = true;
    if (node.parent > p) return false;  // so there is no cycle
    if (node.parent == p && (num_leaders == plan.num_leaders || plan.leaders[num_leaders++] != p))
      return false;
    if (node.num_children > num_members || node.first_child > num_members - node.num_children)
      return false;
    // Each child appears once, and there are as many as members, so none is missing.
    for (const std::uint32_t child :
         std::span(plan.children + node.first_child, node.num_children)) {
      if (child <= p || child >= plan.num_participants || plan.nodes[child].parent != p ||
          is_child[child])
        return false;
      is_child[child] = true;
      ++num_children;
    }
  }
  return num_leaders == plan.num_leaders && num_children == num_members && crews_are_sound(plan);
}

}  // namespace hierbar
