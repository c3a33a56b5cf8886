// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a launched process finds out about its launch and its pool, on one line: for
// live_launch_test.

#include <unistd.h>

#include <string>

#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "placement/evidence/launcher.hpp"
#include "tests/support/outlive.hpp"

namespace {

std::string describe() {
  using namespace hierbar;
  const ProcessFacts facts = own_process_facts();
  const Result<Launch> launch = find_launch(own_environment(), facts);
  if (!launch) return "no launch: " + launch.error();
  std::string text = launch->launcher + "; rank " + std::to_string(launch->local_rank) + " of " +
                     std::to_string(launch->local_size) + "; key " + launch->job_key;
  const Result<PoolEvidence> evidence = read_pool_evidence(own_environment(), facts.ancestors);
  if (!evidence) return text + "; no evidence: " + evidence.error();
  const Result<CpuPool> pool = choose_pool(*evidence, PoolChoice::kAuto);
  if (!pool) return text + "; no pool: " + pool.error();
  return text + "; own " + own_cpus()->to_string() + "; pool " + pool_choice_name(pool->source) +
         " " + pool->cpus.to_string();
}

}  // namespace

// In one piece, so that the lines of the ranks do not mix.
int main() {
  const std::string line = describe() + "\n";
  const bool is_written =
      write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  hierbar::test::outlive_the_launch();
  return is_written ? 0 : 1;
}
