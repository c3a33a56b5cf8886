// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "placement/evidence/place_setting.hpp"
#include "placement/evidence/process.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar {

// What is known about the cpus of a node that a job may use.
struct PoolEvidence {
  CpuSet online;  // of the whole machine
  CpuSet kernel;  // those that the kernel allows, see probe_kernel_cpus()

  // The cpus of the launcher's own process on this node. Nothing if no such process of this user is
  // seen.
  struct Grant {
    CpuSet cpus;
    std::string holder;  // "hydra_pmi_proxy (process 4711)"
  };
  std::optional<Grant> grant = {};

  // The cpus of all ranks of the node together. Nothing if the ranks have not met.
  std::optional<CpuSet> ranks = {};

  // A number of cpus, without which ones they are: the batch system's, and that of the quota of
  // time.
  struct Limit {
    std::uint32_t num_cpus = 0;
    std::string source;  // "SLURM_CPUS_ON_NODE"
  };
  std::optional<Limit> scheduled = {};
  std::optional<Limit> quota = {};
};

// Reads everything but `ranks`, for this process. Errors: the kernel does not report the cpus.
Result<PoolEvidence> read_pool_evidence(const Environment& environment,
                                        const std::vector<Process>& ancestors);

// The cpus of a node that the ranks of a job share out, and the reason for these.
struct CpuPool {
  // Never empty, and always among those that the kernel allows.
  CpuSet cpus;
  // Which rule chose them; never kAuto.
  PoolChoice source = PoolChoice::kAuto;
  // How many of them can run at once. It is less than the cpus if their time or their number is
  // limited.
  std::uint32_t capacity = 0;
  // There is evidence that the cpus belong to this job alone.
  bool is_exclusive = false;
  // A sentence without a full stop, for reports.
  std::string why;
};

// Chooses the pool. The rule:
//
// 1. The grant, if a launcher's process of this user is seen: it has what the batch system left it.
//    A launcher of another user (slurmstepd and palsd run as root) is in other control groups and
//    shows nothing.
// 2. Otherwise all that the kernel allows, if that is less than the machine, because then a control
//    group holds the job together; or if the batch system gave all of the machine's cpus.
// 3. Otherwise the union of the ranks' masks. It gives the job no cpu that it did not have.
//
// In each case only cpus that the kernel allows. A setting overrides the rule.
//
// The pool counts as exclusive if the setting chose it, if it is less than the machine, if the
// batch system gave all of the machine's cpus, or if it is a grant of the whole machine. The last
// two do not count if fewer cpus were scheduled or time has a quota: then other jobs use the same
// cpus, and nothing shows which ones are free (docs/design/placement.md#d0044).
//
// Errors: the chosen set is unknown or empty.
Result<CpuPool> choose_pool(const PoolEvidence& evidence, PoolChoice choice);

}  // namespace hierbar
