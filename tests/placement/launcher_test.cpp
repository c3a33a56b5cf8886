// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/launcher.hpp"

#include <gmock/gmock.h>

#include <map>

namespace hierbar {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

Process process(int pid, const char* name) {
  return {.pid = pid, .parent = 1, .start_ticks = 7000ULL + pid, .user = 1000, .name = name, .cpus = CpuSet::range(0, 7)};
}

// Under a shell that a launcher's processes run; nearest first.
ProcessFacts below(std::vector<Process> ancestors) {
  ancestors.insert(ancestors.begin(), process(900, "bash"));
  return {.ancestors = std::move(ancestors), .boot_id = "boot"};
}

std::string found(const Variables& variables, const ProcessFacts& facts) {
  const Result<Launch> launch = find_launch(environment_of(variables), facts);
  if (!launch) return launch.error();
  return std::to_string(launch->local_rank) + " of " + std::to_string(launch->local_size) + ", " + launch->job_key +
         (launch->size_is_assumed ? ", assumed" : "");
}

// MPICH 4.0.2 (Debian 12): mpiexec.mpich -bind-to core -n 2.
const Variables kHydra = {{"HYDRA_USER_PROVIDED_BINDING", "1"},
                          {"MPI_LOCALNRANKS", "2"},
                          {"MPI_LOCALRANKID", "1"},
                          {"PMI_FD", "8"},
                          {"PMI_RANK", "1"},
                          {"PMI_SIZE", "2"}};
const ProcessFacts kHydraFacts = below({process(500, "hydra_pmi_proxy"), process(499, "mpiexec.mpich")});

TEST(Launcher, RecognisesHydra) { EXPECT_EQ(found(kHydra, kHydraFacts), "1 of 2, hydra/process 500 started 7500/boot"); }

}  // namespace
}  // namespace hierbar
