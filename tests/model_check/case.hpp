// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "plan/plan.h"

// What one run of the checker explores. The runner (run.py) defines the macros; cases.py lists the
// cases.
//
//   MODEL_PARENTS    each participant's parent; a leader's is itself. 0,0,1: a chain 0 <- 1 <- 2
//   MODEL_CREWS      the first participant of each participant's crew; not defined: no crews
//   MODEL_LINES      1: a parent releases all its children by one line
//   MODEL_EPISODES   the number of episodes
//   MODEL_SPLIT      bit e: episode e + 1 is a gather and a release; the others are whole crossings
//   MODEL_FENCING    1: sleepers fence; 0: writers do
//   MODEL_SLEEPERS   bit p: participant p sleeps in its waits
//   MODEL_NAPS       how often it goes to sleep in one wait
//   MODEL_SPURIOUS   1: each sleep may end at once
//   MODEL_ANNOUNCED  1: the sleeps of one wait have one announcement
//   MODEL_WIDTH      how many a thread releases of its queue (barrier/pass_on.hpp)
#ifndef MODEL_LINES
#define MODEL_LINES 0
#endif
#ifndef MODEL_EPISODES
#define MODEL_EPISODES 1
#endif
#ifndef MODEL_SPLIT
#define MODEL_SPLIT 0
#endif
#ifndef MODEL_FENCING
#define MODEL_FENCING 0
#endif
#ifndef MODEL_SLEEPERS
#define MODEL_SLEEPERS 0
#endif
#ifndef MODEL_NAPS
#define MODEL_NAPS 1
#endif
#ifndef MODEL_SPURIOUS
#define MODEL_SPURIOUS 0
#endif
#ifndef MODEL_ANNOUNCED
#define MODEL_ANNOUNCED 0
#endif
#ifndef MODEL_WIDTH
#define MODEL_WIDTH 4
#endif

namespace hierbar::model {

inline constexpr std::uint32_t kParents[] = {MODEL_PARENTS};
inline constexpr std::uint32_t kNumParticipants = sizeof(kParents) / sizeof(kParents[0]);
inline constexpr std::uint32_t kNumEpisodes = MODEL_EPISODES;
inline constexpr std::uint32_t kSplit = MODEL_SPLIT;
inline constexpr Fencing kFencing = MODEL_FENCING != 0 ? Fencing::kBySleepers : Fencing::kByWriters;
inline constexpr std::uint32_t kSleepers = MODEL_SLEEPERS;
inline constexpr int kNaps = MODEL_NAPS;
inline constexpr bool kSpurious = MODEL_SPURIOUS != 0;
inline constexpr bool kStaysAnnounced = MODEL_ANNOUNCED != 0;
inline constexpr std::uint32_t kWidth = MODEL_WIDTH;

// The arrays of a plan. The compiler knows them, so the checker sees no loads from them.
struct PlanArrays {
  hierbar_plan_node nodes[kNumParticipants];
  std::uint32_t children[kNumParticipants];
  std::uint32_t leaders[kNumParticipants];
  std::uint32_t num_leaders;
  std::uint32_t num_crews;
};

constexpr PlanArrays make_arrays() {
  PlanArrays arrays{};
  std::uint32_t num_children = 0;
  for (std::uint32_t p = 0; p < kNumParticipants; ++p) {
    hierbar_plan_node& node = arrays.nodes[p];
    node.parent = kParents[p];
    node.slot = p;
    node.first_child = num_children;
    for (std::uint32_t child = p + 1; child < kNumParticipants; ++child) {
      if (kParents[child] == p) arrays.children[num_children++] = child;
    }
    node.num_children = num_children - node.first_child;
    if (node.parent == p) arrays.leaders[arrays.num_leaders++] = p;
  }
#ifdef MODEL_CREWS
  constexpr std::uint32_t kCrews[] = {MODEL_CREWS};
  static_assert(sizeof(kCrews) == sizeof(kParents),
                "MODEL_CREWS and MODEL_PARENTS name the same participants");
  for (std::uint32_t p = 0; p < kNumParticipants; ++p) {
    arrays.nodes[p].crew = kCrews[p];
    for (const std::uint32_t crew : kCrews) arrays.nodes[p].crew_size += crew == kCrews[p] ? 1 : 0;
    if (kCrews[p] == p) ++arrays.num_crews;
  }
#endif
  return arrays;
}

inline constexpr PlanArrays kArrays = make_arrays();
inline constexpr std::uint32_t kLineBytes = 64;
inline constexpr hierbar_plan kPlan = {
    HIERBAR_PLAN_ABI_VERSION,
    kNumParticipants,
    kArrays.num_leaders,
    /*num_slots=*/kNumParticipants,
    MODEL_LINES != 0 ? HIERBAR_RELEASE_LINES : HIERBAR_RELEASE_FLAGS,
    kLineBytes,
    /*depth=*/1,
    /*is_tuned=*/0,
    kArrays.num_crews,
    kArrays.nodes,
    kArrays.children,
    kArrays.leaders};

}  // namespace hierbar::model
