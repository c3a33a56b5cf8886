// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "placement/launcher.hpp"
#include "placement/pool.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// This process's own share of its node, from what it finds around it: the launcher's variables, the pool, what forbids to act,
// and the other ranks.

struct ShareRequest {
  CpuSet mask;                            // what the process was given
  std::optional<CpuSet> first_mask = {};  // what it was given when it was started, if that is known
  std::uint32_t num_threads = 0;          // asked for by number; 0: none was
  std::string objection = {};             // why the host's settings forbid other cpus; empty: they do not
};

// What a process finds; a test brings its own.
struct Surroundings {
  Environment environment;
  std::function<ProcessFacts()> process_facts;
  std::function<Result<PoolEvidence>(const std::vector<Process>& ancestors)> pool_evidence;
  // Both give a machine that lives as long as this. Loads it, or null if it cannot be read; keeps what another rank has loaded.
  std::function<const Machine*()> load_machine;
  std::function<const Machine*(Machine)> adopt_machine;
  bool is_forked_child = false;
  std::uint64_t patience_ns = 2'000'000'000;
  std::string meeting_directory = "/dev/shm";
};

struct ShareAnswer {
  std::optional<CpuSet> share;        // nothing: everything stays as it is
  std::uint32_t team_size = 0;        // of teams without a number, as threads=share wants it; 0: what `mask` gives
  std::string verdict;                // one line: what happens and why
  std::vector<std::string> warnings;  // bad settings, that ranks did not come or could not meet; one line each
};

// With one rank on the node this asks nobody. With more, the ranks meet (see meet()): they may have been given different thread
// counts, and no rank can tell that from its own environment. Ranks that were given equal ones pay the same, which is what the
// last of them is late; what they save is to load the machine, which one of them does for all.
//
// When some ranks do not come in time, those that came take equal parts of the pool if they are alike and need it, and the pool
// is known without the others; the rest may come later or never, and then finds its own part free.
ShareAnswer find_own_share(const ShareRequest& request, const Surroundings& around);

}  // namespace hierbar
