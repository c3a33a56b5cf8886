// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "placement/place_setting.hpp"
#include "placement/process.hpp"
#include "topology/cpu_set.hpp"
#include "topology/result.hpp"

namespace hierbar {

// What is known about the cpus of a node that a job may use.
struct PoolEvidence {
  CpuSet online;  // of the whole machine
  CpuSet kernel;  // that the kernel allows, see probe_kernel_cpus()

  // What the launcher's own process on this node may run on: the grant. Nothing if no such process of this user is seen.
  struct Grant {
    CpuSet cpus;
    std::string holder;  // "hydra_pmi_proxy (process 4711)"
  };
  std::optional<Grant> grant = {};

  // What the ranks of the node were given, all together. Nothing if they have not told each other.
  std::optional<CpuSet> ranks = {};

  // A number of cpus without saying which: from the batch system, and from the quota of time.
  struct Limit {
    std::uint32_t num_cpus = 0;
    std::string source;  // "SLURM_CPUS_ON_NODE"
  };
  std::optional<Limit> scheduled = {};
  std::optional<Limit> quota = {};
};

// Everything but `ranks`, of this process. Errors: the kernel does not tell its cpus.
Result<PoolEvidence> read_pool_evidence(const Environment& environment, const std::vector<Process>& ancestors);

// The cpus of a node that the ranks of a job share out, and why these.
struct Pool {
  CpuSet cpus;                            // never empty, always inside the kernel's
  PoolChoice source = PoolChoice::kAuto;  // what was taken; never kAuto
  std::uint32_t capacity = 0;             // of them so many can run at once: fewer where time or number is limited
  bool is_exclusive = false;              // there is evidence that they are this job's alone
  std::string why;                        // a sentence without a full stop, for reports
};

// The rule:
//
//   1. The grant, where a launcher's process of this user is seen: what the batch system left it. A launcher of another user
//      (slurmstepd, palsd: root) lives in other control groups and says nothing.
//   2. Else all that the kernel allows, if that is less than the machine, so that a control group holds the job together, or if
//      the batch system gave all of the machine's cpus.
//   3. Else the union of the ranks' masks, which gives the job no cpu that it did not have.
//
// In each case within what the kernel allows. A setting overrides the rule and counts as evidence of exclusivity. Else it is
// evidence that somebody cut the pool out of the machine, that the batch system gave all of the machine's cpus, or a grant of the
// whole machine that no smaller number speaks against: with fewer cpus scheduled, or a quota of time, other jobs use the same
// cpus, and nobody says which are free.
//
// Errors: the chosen set is not known or empty.
Result<Pool> choose_pool(const PoolEvidence& evidence, PoolChoice choice);

}  // namespace hierbar
