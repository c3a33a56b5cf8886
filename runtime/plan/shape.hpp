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

// These limits come from searches of shapes in a coherence model of 2 x Kunpeng 920 (128 cores) and of machines like EPYC and
// Xeon: docs/decisions/0064-shapes-follow-rules-from-the-model.md
inline constexpr std::size_t kMaxFlatDomain = 8;      // inside one domain a flat exchange wins up to here
inline constexpr std::size_t kMaxFlatTeam = 10;       // over several domains: there a gather costs more
inline constexpr std::size_t kFewLeaders = 4;         // an exchange of a larger team has no fewer
inline constexpr std::size_t kManyLeaders = 8;        // and needs no more,
inline constexpr std::size_t kMembersPerLeader = 16;  // except that a leader should not have more members than this
inline constexpr std::size_t kMaxLeaders = 16;        // domains that may exchange without being gathered first
inline constexpr std::size_t kMaxCrowdCpus = 16;      // of a crowd; more would count one after the other for too long
inline constexpr std::size_t kMaxDomainMembers = 32;  // of a domain that is taken as it is: one leader scans no more

struct ShapeOptions {
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  std::optional<Level> domain_level = std::nullopt;  // one that the user named; empty: chosen by the machine, see domain_level()
  std::uint32_t num_cpus = 0;                        // that the participants have together; 0: enough
  std::uint32_t page_bytes = 4096;
  std::uint32_t num_leaders = 0;  // not 0: so many, or all there are, gather equal parts in place of steps 1 to 4
  bool is_tuned = false;          // a profile says so
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

  // The plan as adapters see it. Points into this object: valid while it lives and is neither changed nor moved.
  hierbar_plan view() const;
};

// Why there is no plan for so many participants; empty if there is one.
std::string team_size_problem(std::uint64_t num_participants);

// Chooses the shape of the barrier (gather forest, leaders that exchange, release along the same forest) and where the lines of
// each participant lie:
//
//   1. Few participants are all leaders: one exchange, one line transfer deep. So is a crowd, more participants than there are
//   cpus
//      in one domain of few cpus, since there each level costs a round of the scheduler; and it is divided into crews, those who
//      share a core or whatever smallest unit holds them.
//   2. Otherwise they are divided into domains, in topology order.
//   3. A domain has one leader, its lowest index. Where domains are fewer than the leaders that the team should have, large ones
//      are cut into parts with a leader each. Domains of a level that the user named are cut only above kMaxDomainMembers; so
//      are those of a crowded team, one with more participants than cpus, since there a look at another part waits until the
//      scheduler has run its leader.
//   4. More than kMaxLeaders parts are gathered once more, evenly, in groups that follow the machine's tree.
//   5. Inside a group the gather tree follows cores and clusters.
//   6. Slots follow the topology order; a NUMA node's slots start on a page of their own when there are several nodes. Plans
//      of up to kMaxAlwaysFlat participants use index order and no gaps: they are also made before the machine is known.
//
// A pure function: equal arguments give equal plans. Fails when there are no participants or more than kMaxParticipants.
// O(n log n) for n participants.
Result<EnginePlan> build_engine_plan(const std::vector<LocalityPath>& paths, const Machine& machine, const ShapeOptions& options);

}  // namespace hierbar
