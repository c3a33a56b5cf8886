// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Environment variables, one to a line, NAME=value: the project's own, OpenMP's and launchers'.

#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/variables.hpp"
#include "fuzz_target.hpp"
#include "mpi/settings/settings.hpp"
#include "placement/decision/findings.hpp"
#include "placement/decision/own_share.hpp"
#include "placement/decision/predict_team.hpp"
#include "plan/settings.hpp"
#include "report/settings.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar::test {
namespace {

Variables parse(const std::string& text) {
  Variables variables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    // As in an environment, where a zero ends a value.
    if (equals != std::string::npos)
      variables[line.substr(0, equals)] = line.substr(equals + 1).c_str();
  }
  return variables;
}

// In the process's own environment, from which the libraries read theirs.
void set_own(const Variables& variables) {
  for (const Variable& own : kVariables) {
    const auto found = variables.find(own.name);
    if (found == variables.end()) {
      unsetenv(own.name);
    } else {
      setenv(own.name, found->second.c_str(), 1);
    }
  }
}

// Each complaint names its variable and the value.
void check_complaints(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    bool names_both = false;
    for (const Variable& own : kVariables) {
      const char* value = std::getenv(own.name);
      names_both = names_both || (value != nullptr && problem.find(own.name) != std::string::npos &&
                                  problem.find(value) != std::string::npos);
    }
    require(names_both, "a complaint names the variable and its value: " + problem);
  }
}

void read_own_settings(const Machine& machine) {
  std::vector<std::string> problems;
  const PlanSettings settings = read_plan_settings(own_environment(), problems);
  (void)plan_levels(machine, settings, problems);
  check_complaints(problems);
  check_complaints(mpi::read_settings().problems);
  problems.clear();
  const report::ReportSettings report = report::read_settings(problems);
  check_complaints(problems);
  (void)expand_output(report, {.host = "node", .pid = 1, .rank = 2, .job = "3"}, "json");
}

void read_places(const Machine& machine, const Environment& environment) {
  const TeamShape team = predict_team(machine, machine.allowed, environment);
  require(team.num_threads >= 1 && team.cpus.size() == team.num_threads,
          "each thread has its cpus");
  for (const CpuSet& cpus : team.cpus)
    require(!cpus.empty() && cpus.is_subset_of(machine.allowed),
            "threads run on cpus that are there");
  if (team.num_threads > 256) return;  // findings look at pairs
  (void)find_problems({machine, {{0, machine.allowed, team}}, {}, {}});
}

// A rank alone on its node; with others it would find no place to meet them.
void find_share(const Machine& machine, const Environment& environment) {
  const Surroundings around{
      .environment = environment,
      .process_facts =
          [] {
            return ProcessFacts{.ancestors = {{.pid = 9,
                                               .parent = 1,
                                               .start_ticks = 5,
                                               .user = 0,
                                               .name = "hydra_pmi_proxy",
                                               .cpus = {}}},
                                .boot_id = "boot"};
          },
      .pool_evidence = [&](const std::vector<Process>&) -> Result<PoolEvidence> {
        return PoolEvidence{.online = machine.present, .kernel = CpuSet::range(0, 31)};
      },
      .load_machine = [&] { return &machine; },
      .adopt_machine = [](Machine) -> const Machine* { return nullptr; },
      .patience_ns = 1,
      .meeting_directory = "/proc/self/nowhere"};
  const ShareAnswer answer =
      find_own_share({.mask = CpuSet::range(0, 0), .num_threads = 4}, around);
  require(!answer.verdict.empty(), "there is always a verdict");
  if (answer.share)
    require(!answer.share->empty() && answer.share->is_subset_of(machine.allowed),
            "a share has cpus");
}

}  // namespace
}  // namespace hierbar::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  static const Machine machine = test::make_kunpeng();
  const test::Variables variables = test::parse(test::text_of(data, size));
  test::set_own(variables);
  test::read_own_settings(machine);
  const Environment environment = test::environment_of(variables);
  test::read_places(machine, environment);
  test::find_share(machine, environment);
  // Lists of cpus as commands and files have them, and the reverse.
  const Result<CpuSet> cpus = CpuSet::parse(value_of(environment, "CPUS"));
  if (cpus)
    test::require(*CpuSet::parse(cpus->to_string()) == *cpus, "a list of cpus can be read again");
  if (!cpus)
    test::require(cpus.error().find(value_of(environment, "CPUS")) != std::string::npos,
                  "a complaint names the list");
  return 0;
}
