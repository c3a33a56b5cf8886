// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/cpu_pool.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "placement/evidence/launcher.hpp"

namespace hierbar {
namespace {

using Grant = PoolEvidence::Grant;
using Limit = PoolEvidence::Limit;

// Slurm's daemon is never asked, even when it runs as this user (docs/design/placement.md#d0044).
constexpr const char* kNeverAsked = "slurmstepd";

std::optional<Grant> grant_of(const std::vector<Process>& ancestors) {
  const Process* launcher = find_launcher_process(ancestors);
  if (launcher == nullptr || launcher->name == kNeverAsked || launcher->user != geteuid())
    return std::nullopt;
  return Grant{launcher->cpus, launcher->name + " (process " + std::to_string(launcher->pid) + ")"};
}

// The batch system's number. The variable counts only if the batch system's mark is set too,
// because other programs use the name as well.
std::optional<Limit> scheduled_cpus(const Environment& environment, const char* mark,
                                    const char* name) {
  const std::string value = value_of(environment, name);
  std::uint32_t number = 0;
  if (environment(mark) == nullptr || !parse_whole(value, number) || number == 0)
    return std::nullopt;
  return Limit{number, name};
}

std::string count_cpus(std::uint32_t number) {
  return std::to_string(number) + (number == 1 ? " cpu" : " cpus");
}

bool gives_whole_machine(const std::optional<Limit>& scheduled, const PoolEvidence& evidence) {
  return scheduled && !evidence.online.empty() && scheduled->num_cpus >= evidence.online.count();
}

// Whether this is less than the machine. False if the size of the machine is unknown.
bool is_cut_out(const CpuSet& cpus, const PoolEvidence& evidence) {
  return !evidence.online.empty() && !evidence.online.is_subset_of(cpus);
}

PoolChoice rule(const PoolEvidence& evidence) {
  if (evidence.grant) return PoolChoice::kGrant;
  if (is_cut_out(evidence.kernel, evidence) || gives_whole_machine(evidence.scheduled, evidence))
    return PoolChoice::kCpuset;
  return PoolChoice::kUnion;
}

// The set of `source`. It may still have cpus that the kernel does not allow.
Result<CpuSet> cpus_of(const PoolEvidence& evidence, PoolChoice source) {
  if (source == PoolChoice::kCpuset) return evidence.kernel;
  if (source == PoolChoice::kGrant) {
    if (!evidence.grant) return Error{"no launcher's process of this user is among the ancestors"};
    return evidence.grant->cpus;
  }
  if (!evidence.ranks) return Error{"the ranks of this node have not told each other their cpus"};
  return *evidence.ranks;
}

std::string origin(const PoolEvidence& evidence, PoolChoice source) {
  if (source == PoolChoice::kGrant) return "those of " + evidence.grant->holder;
  if (source == PoolChoice::kUnion) return "those that the ranks were given";
  if (is_cut_out(evidence.kernel, evidence))
    return "those that the kernel allows, which are not all";
  if (gives_whole_machine(evidence.scheduled, evidence)) {
    return "all of the machine, as " + evidence.scheduled->source + "=" +
           std::to_string(evidence.scheduled->num_cpus) + " says";
  }
  return "all that the kernel allows";
}

// The smallest limit that is below the size of the pool; null if there is none.
const Limit* tightest_limit(const PoolEvidence& evidence, std::uint32_t num_cpus) {
  const Limit* tightest = nullptr;
  for (const std::optional<Limit>* limit : {&evidence.scheduled, &evidence.quota}) {
    if (!*limit || (*limit)->num_cpus >= num_cpus) continue;
    if (tightest == nullptr || (*limit)->num_cpus < tightest->num_cpus) tightest = &**limit;
  }
  return tightest;
}

bool is_evidently_exclusive(const PoolEvidence& evidence, const CpuPool& pool, const Limit* limit) {
  if (is_cut_out(pool.cpus, evidence)) return true;
  if (limit != nullptr) return false;
  return pool.source == PoolChoice::kGrant || gives_whole_machine(evidence.scheduled, evidence);
}

}  // namespace

Result<PoolEvidence> read_pool_evidence(const Environment& environment,
                                        const std::vector<Process>& ancestors) {
  Result<CpuSet> kernel = probe_kernel_cpus();
  if (!kernel) return Error{kernel.error()};
  PoolEvidence evidence;
  evidence.kernel = std::move(*kernel);
  evidence.online = online_cpus();
  evidence.grant = grant_of(ancestors);
  evidence.scheduled = scheduled_cpus(environment, "SLURM_JOB_ID", "SLURM_CPUS_ON_NODE");
  if (!evidence.scheduled) evidence.scheduled = scheduled_cpus(environment, "PBS_JOBID", "NCPUS");
  if (const std::optional<std::uint32_t> quota = read_cpu_quota())
    evidence.quota = Limit{*quota, "the control group's quota"};
  return evidence;
}

Result<CpuPool> choose_pool(const PoolEvidence& evidence, PoolChoice choice) {
  CpuPool pool;
  pool.source = choice == PoolChoice::kAuto ? rule(evidence) : choice;
  const Result<CpuSet> cpus = cpus_of(evidence, pool.source);
  if (!cpus) return Error{cpus.error()};
  pool.cpus = *cpus & evidence.kernel;
  if (pool.cpus.empty()) {
    return Error{"the kernel allows none of the cpus " + cpus->to_string() + ", " +
                 origin(evidence, pool.source)};
  }
  const Limit* limit = tightest_limit(evidence, pool.cpus.count());
  pool.capacity = limit == nullptr ? pool.cpus.count() : limit->num_cpus;
  pool.is_exclusive = choice != PoolChoice::kAuto || is_evidently_exclusive(evidence, pool, limit);
  pool.why = count_cpus(pool.cpus.count()) + " (" + pool.cpus.to_string() + "), " +
             origin(evidence, pool.source);
  if (limit != nullptr) pool.why += "; " + limit->source + " leaves " + count_cpus(limit->num_cpus);
  if (choice != PoolChoice::kAuto)
    pool.why += std::string("; chosen by pool=") + pool_choice_name(choice);
  return pool;
}

}  // namespace hierbar
