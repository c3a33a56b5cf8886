// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/forecast.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A rank of the node: what it may run on, and its team.
struct RankView {
  std::uint32_t rank = 0;
  CpuSet mask;
  Team team;
};

struct NodeView {
  const Machine& machine;
  std::vector<RankView> ranks;
  std::optional<CpuSet> grant = {};         // what the launcher itself may run on; nothing if that is not known
  std::optional<std::uint32_t> quota = {};  // cpus' worth of time that control groups leave; nothing if there is no limit
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

// Something that makes threads wait for each other or for memory without need.
struct Finding {
  FindingKind kind;
  std::vector<std::uint32_t> ranks;
  std::string what;   // the same for all these ranks
  std::string where;  // of a few of them: "rank 0: cpu 0; rank 1: cpu 1"
  std::string advice;
};

// What is wrong with how the ranks and threads of a node are placed; empty if nothing is:
//
//   stacked threads    more threads than cpus: of a rank inside its mask or on one place, or of ranks whose places are the same
//   overlapping ranks  ranks that may run on the same cpus
//   split package      a mask that has parts of several packages (NUMA nodes), where the numbers of threads do not demand it
//   SMT sharing        threads on two hardware threads of one core, while there are cores enough
//   offline cpus       a mask with cpus that are not online, which is not simply everything
//   foreign cpus       cpus of a mask outside the launcher's own, or of OMP_PLACES outside the mask
//   quota              more threads than control groups give time for
std::vector<Finding> find_problems(const NodeView& node);

// "0-3,7".
std::string join_ranks(const std::vector<std::uint32_t>& ranks);

}  // namespace hierbar
