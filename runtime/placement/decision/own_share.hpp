// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/variables.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/launcher.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// This process's own share of its node. It is found from the launcher's variables, the pool, the
// reasons not to act, and the other ranks.

// What the host of this process (libomp) asks with.
struct ShareRequest {
  // The cpus that the process was given.
  CpuSet mask;
  // The cpus that it was given when it was started, if that is known.
  std::optional<CpuSet> first_mask = {};
  // The number that was asked for; 0: none was.
  std::uint32_t num_threads = 0;
  // Why the host's settings forbid other cpus; empty: they do not.
  std::string objection = {};
};

// What a process finds around it. Tests bring their own.
struct Surroundings {
  Environment environment;
  std::function<ProcessFacts()> process_facts;
  std::function<Result<PoolEvidence>(const std::vector<Process>& ancestors)> pool_evidence;
  // Loads the machine, or returns null if it cannot be read. The second function keeps a machine
  // that another rank has loaded. Both return a machine that lives as long as this object.
  std::function<const Machine*()> load_machine;
  std::function<const Machine*(Machine)> adopt_machine;
  // The cpu time that control groups leave, in cpus.
  std::function<std::optional<std::uint32_t>()> cpu_quota = [] { return std::nullopt; };
  bool is_forked_child = false;
  std::uint64_t patience_ns = 2'000'000'000;
  std::string meeting_directory = "/dev/shm";
};

// What the host is to do, and what is to be reported.
struct ShareAnswer {
  // Nothing: everything stays as it is.
  std::optional<CpuSet> share;
  // Without a share: the process has been given cpus of its own, so its threads may be bound to
  // them. Otherwise other processes may be on the same cpus, and know as little of this one.
  bool has_own_cpus = false;
  // The size of teams without a number, as threads=share or a cpu quota sets it; also where there
  // is no share. 0: what `mask` gives.
  std::uint32_t team_size = 0;
  // One line: what happens and why.
  std::string verdict;
  // Bad settings, that ranks did not come or could not meet, that a quota makes teams smaller. One
  // line each.
  std::vector<std::string> warnings;
};

// Finds the share of this process. With one rank on the node it asks nobody. With several, the
// ranks meet (see meet()): they may have been given different thread counts, which no rank can know
// from its own environment. Ranks with equal thread counts meet as well. They wait until the last
// one has come; in return only one of them loads the machine (docs/design/placement.md#d0045).
//
// If some ranks do not come in time, those that came take equal parts of the pool. They do so only
// if they are alike and need it, and if the pool is known without the others. A rank that comes
// later finds its own part free.
ShareAnswer find_own_share(const ShareRequest& request, const Surroundings& around);

}  // namespace hierbar
