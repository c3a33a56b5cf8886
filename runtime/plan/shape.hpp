// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan.h"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

inline constexpr std::uint32_t kMaxParticipants = 1U << 20;

// Up to this many participants are one exchange on every machine, so that their plan needs no look at it.
inline constexpr std::uint32_t kMaxAlwaysFlat = 4;

// The four limits come from a coherence model of 2 x Kunpeng 920 (128 cores) and of machines like EPYC and Xeon; see
// runtime/DESIGN.md. All winning shapes have them within a factor of two, and differ by less than the model's own error.
inline constexpr std::size_t kMaxFlatDomain = 16;     // inside one domain a flat exchange wins up to here
inline constexpr std::size_t kMaxLeaders = 16;        // wider exchanges cost more than one more gather level
inline constexpr std::size_t kMaxDomainMembers = 32;  // one leader scans no more: 64 in one group take 5 us where 2 x 32 take 2
inline constexpr std::size_t kMembersPerLeader = 4;   // groups that one larger domain is cut into

struct ShapeOptions {
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  std::optional<Level> domain_level = std::nullopt;  // empty: chosen by the machine, see domain_level()
  std::uint32_t page_bytes = 4096;
  std::uint32_t num_leaders =
      0;                  // 0: automatic. Otherwise so many, or all there are, gather equal parts in place of steps 1 to 4
  bool is_tuned = false;  // a profile says so
};

// A plan and its arrays.
struct EnginePlan {
  std::vector<hierbar_plan_node> nodes;
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> leaders;
  std::uint32_t num_slots = 0;
  std::uint32_t line_bytes = 0;
  std::uint32_t depth = 0;
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  bool is_tuned = false;  // its shape comes from a profile

  // The plan as adapters see it. Points into this object: valid while it lives and is neither changed nor moved.
  hierbar_plan view() const;
};

// Why there is no plan for so many participants; empty if there is one.
std::string team_size_problem(std::uint64_t num_participants);

// Chooses the shape of the barrier (gather forest, leaders that exchange, release along the same forest) and where the lines of
// each participant lie:
//
//   1. Few participants, or few in one domain, are all leaders: one exchange, one line transfer deep.
//   2. Otherwise they are divided into domains, in topology order.
//   3. A domain has one leader, its lowest index. One domain alone is cut into groups, so that there is an exchange.
//   4. More groups than kMaxLeaders are gathered once more: by NUMA node or package if that needs no second level, else evenly.
//   5. Inside a group the gather tree follows cores and clusters.
//   6. Slots follow the topology order; a NUMA node's slots start on a page of their own when there are several nodes. Plans
//      of up to kMaxAlwaysFlat participants use index order and no gaps: they are also made before the machine is known.
//
// A pure function: equal arguments give equal plans. Fails when there are no participants or more than kMaxParticipants.
// O(n log n) for n participants.
Result<EnginePlan> build_engine_plan(const std::vector<LocalityPath>& paths, const Machine& machine, const ShapeOptions& options);

}  // namespace hierbar
