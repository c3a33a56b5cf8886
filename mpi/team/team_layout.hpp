// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/node/segment.hpp"
#include "mpi/team/team_mem.hpp"
#include "plan/plan.h"

namespace hierbar::mpi {

// What the participants of a team on one node share beside their barriers. PlanChange says how the
// words are used.
struct TeamControl {
  // The number of the newest plan. Writer: participant 0.
  alignas(128) TeamMem::Word published;
  // 1: in this plan participants outnumber the cpus. Written before `published`.
  std::uint32_t outnumbered;
  // How many slots were cleared for all plans so far. Writers: all.
  alignas(128) TeamMem::Word cleared;
};
static_assert(sizeof(TeamControl) <= NodeSegment::kUnitBytes);

// Where the parts of a team's segment lie, in units:
//
//     | control | joins, a word each | image of the newest plan | area 0 | area 1 |
//
// Plan number n uses area n % 2. When it is made, all participants have left the plan before, so
// nobody uses the area of the one before that (docs/design/teams.md#d0130).
struct TeamLayout {
  std::uint32_t num_participants;
  std::uint32_t area_units;
  std::uint32_t joins_unit, image_unit, image_units;
  std::uint32_t areas[2];
  std::uint32_t end;

  static std::uint32_t units(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + NodeSegment::kUnitBytes - 1) / NodeSegment::kUnitBytes);
  }
  // Enough for every plan of that many participants.
  static std::size_t image_bytes(std::uint32_t participants) {
    return sizeof(hierbar_plan) + participants * (sizeof(hierbar_plan_node) + 2 * sizeof(std::uint32_t));
  }
  // Units of one area: room for each participant's slot, and for the gaps of a plan in which slots
  // of several NUMA nodes do not share a page.
  static std::uint32_t units_of_area(const hierbar_plan& first, std::uint32_t page_bytes) {
    constexpr std::uint32_t kNumaNodes = 16;
    const std::uint32_t slot_bytes = HIERBAR_LINES_PER_SLOT * first.line_bytes;
    const std::uint32_t gaps = std::min(first.num_participants, kNumaNodes) * (page_bytes / slot_bytes);
    return units(std::size_t{slot_bytes} * (std::max(first.num_slots, first.num_participants) + gaps));
  }

  // units_per_page: areas begin at pages.
  TeamLayout(std::uint32_t participants, std::uint32_t units_in_area, std::uint32_t units_per_page)
      : num_participants(participants),
        area_units((units_in_area + units_per_page - 1) / units_per_page * units_per_page),
        joins_unit(1),
        image_unit(joins_unit + units(participants * sizeof(std::atomic<std::uint32_t>))),
        image_units(units(image_bytes(participants))) {
    areas[0] = (image_unit + image_units + units_per_page - 1) / units_per_page * units_per_page;
    areas[1] = areas[0] + area_units;
    end = areas[1] + area_units;
  }

  std::size_t bytes() const { return std::size_t{end} * NodeSegment::kUnitBytes; }
};

}  // namespace hierbar::mpi
