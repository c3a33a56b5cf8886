// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/decision/predict_team.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A rank of the node: its mask and its team.
struct RankView {
  std::uint32_t rank = 0;
  CpuSet mask;
  TeamShape team;
};

// What find_problems() judges: all ranks of a node and what limits them.
struct NodeView {
  const Machine& machine;
  std::vector<RankView> ranks = {};
  // What the launcher itself may run on. Nothing if that is not known.
  std::optional<CpuSet> grant = {};
  // How many cpus' worth of time the control groups leave. Nothing if there is no limit.
  std::optional<std::uint32_t> quota = {};
};

enum class FindingKind : std::uint8_t {
  kStackedThreads,
  kOverlappingRanks,
  kSplitPackage,
  kSplitNuma,
  kSmtSharing,
  kOfflineCpus,
  kForeignCpus,
  kQuota,
};

const char* finding_name(FindingKind kind);  // "stacked-threads"

// A placement problem: threads wait for each other, or for memory, without need.
struct Finding {
  FindingKind kind;
  std::vector<std::uint32_t> ranks;
  std::string what;  // the same text for all these ranks
  // The places of a few of them: "rank 0: cpu 0; rank 1: cpu 1".
  std::string where;
  std::string advice;
};

// What is wrong with the placement of a node's ranks and threads. Empty if nothing is:
//
//   stacked threads    more threads than cpus: in a rank's mask, on one place, or on the places
//                      that several ranks have in common
//   overlapping ranks  ranks that may run on the same cpus
//   split package      a mask that has parts of several packages (or NUMA nodes), although the
//                      numbers of threads do not require it
//   SMT sharing        threads on two hardware threads of one core, while there are enough cores
//   offline cpus       a mask with cpus that are not online, unless it simply has every cpu
//   foreign cpus       cpus of a mask that are not the launcher's, or cpus of OMP_PLACES that are
//                      not in the mask
//   quota              more threads than control groups give time for
std::vector<Finding> find_problems(const NodeView& node);

// For instance "0-3,7".
std::string join_ranks(const std::vector<std::uint32_t>& ranks);

}  // namespace hierbar
