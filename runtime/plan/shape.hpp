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
#include "topology/machine.hpp"

namespace hierbar {

inline constexpr std::uint32_t kMaxParticipants = 1U << 20;

// Up to this many participants are one exchange on every machine. So their plan is made without
// reading the machine (docs/design/engine.md#d0010).
inline constexpr std::uint32_t kMaxAlwaysFlat = 4;

// These limits come from searches of shapes in a coherence model of 2 x Kunpeng 920 (128 cores) and
// of machines like EPYC and Xeon (docs/design/model.md#d0064).

// Up to here a flat exchange wins inside one domain.
inline constexpr std::size_t kMaxFlatDomain = 8;
// The same over several domains, where a gather costs more.
inline constexpr std::size_t kMaxFlatTeam = 10;
// A larger team has one leader for each kMembersPerLeader participants, but at least this many (or
// one for each four participants, if that is less) ...
inline constexpr std::size_t kFewLeaders = 4;
// ... and at most this many. Each domain has at least one leader, so there may be more domains.
inline constexpr std::size_t kManyLeaders = 8;
inline constexpr std::size_t kMembersPerLeader = 16;
// So many leaders may exchange without being gathered first.
inline constexpr std::size_t kMaxLeaders = 16;
// Participants that outnumber their cpus count by crews on up to this many cpus. On more, the crews
// would count one after the other for too long.
inline constexpr std::size_t kMaxCpusOfCrews = 16;
// Where domains are cut by size only, a part has at most this many members: one leader polls no
// more.
inline constexpr std::size_t kMaxDomainMembers = 32;

// A group that is one line transfer deep has at most this many members, with its leader. A larger
// one is worth a second level, of groups of kMembersOfSmallGroup where the machine has no smaller
// units. In the coherence model 16 in one group beat 4x4 by 9 to 16 % inside one L3, and 4x8 beats
// 32 in one group by as much (docs/design/model.md#d0064).
inline constexpr std::size_t kMaxGroupMembers = 16;
inline constexpr std::size_t kMembersOfSmallGroup = 8;

struct ShapeOptions {
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  // The level that the user named; empty: the machine decides, see domain_level().
  std::optional<Level> domain_level = std::nullopt;
  std::uint32_t num_cpus = 0;  // of all participants together; 0: enough
  std::uint32_t page_bytes = 4096;
  // Not 0: so many leaders (or all participants, if they are fewer) gather equal parts, in place of
  // steps 1 to 4.
  std::uint32_t num_leaders = 0;
  bool is_tuned = false;  // a profile has chosen the shape
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
  std::uint32_t num_crews = 0;
  bool is_tuned = false;  // its shape comes from a profile

  // The plan as adapters see it. It points into this object, so it is valid until this object is
  // changed, moved or destroyed.
  hierbar_plan view() const;
};

// Why there is no plan for so many participants; empty if there is one.
std::string team_size_problem(std::uint64_t num_participants);

// Chooses the shape of the barrier (gather forest, leaders that exchange, release along the same
// forest), and a slot for each participant:
//
//   1. Few participants are all leaders: one exchange, one line transfer deep. So are participants
//      that outnumber their cpus, at most kMaxCpusOfCrews in one domain, because there each level
//      costs a round of the scheduler. They are divided into crews: those who share a core, or the
//      smallest unit that holds them if it is larger.
//   2. Otherwise the participants are divided into domains, in topology order.
//   3. Each domain gets its rounded share of the leaders that the team should have, one at least. A
//      domain with several is cut into parts with a leader each. The leader of a part is its lowest
//      index. In two cases several domains are cut only above kMaxDomainMembers: if the user named
//      their level, and if participants outnumber their cpus, because there a poll of another part
//      waits until the scheduler has run that part's leader. If participants outnumber their cpus
//      in a single domain, it is cut into parts of about kFewLeaders members, kMaxLeaders at most.
//   4. More than kMaxLeaders parts are gathered once more, in even groups along the machine's tree.
//   5. Inside a part the gather tree follows cores and clusters.
//   6. Slots are in topology order. If there are several NUMA nodes, the slots of each start on a
//      new page. Plans of up to kMaxAlwaysFlat participants have slots by index and without gaps,
//      because they are also made before the machine is known.
//
// A pure function: equal arguments give equal plans. Fails if there are no participants, or more
// than kMaxParticipants. O(n log n) for n participants.
Result<EnginePlan> build_engine_plan(const std::vector<LocalityPath>& paths, const Machine& machine,
                                     const ShapeOptions& options);

}  // namespace hierbar
