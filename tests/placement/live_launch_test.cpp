// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launchers that are installed here start launch_probe.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar {
namespace {

using testing::StartsWith;

struct Installed {
  std::string name;  // of the test
  std::string launcher;
  std::string command;  // empty: not installed
  std::string bind_to_core;
};

// The lines of the ranks, in the order of the ranks. No launcher may be seen around this test.
std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = popen(
      ("env -u SLURM_JOB_ID -u PBS_JOBID " + command + " '" HIERBAR_LAUNCH_PROBE "' 2>&1").c_str(),
      "r");
  if (pipe == nullptr) return lines;
  std::string output;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), size);
  pclose(pipe);
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string part_of(const std::string& line, const std::string& name) {
  const auto begin = line.find("; " + name + " ");
  if (begin == std::string::npos) return "no " + name;
  const auto value = begin + name.size() + 3;
  return line.substr(value, line.find(';', value) - value);
}

class LiveLaunch : public testing::TestWithParam<Installed> {
 protected:
  void SetUp() override {
    if (GetParam().command.empty()) GTEST_SKIP() << GetParam().launcher << " is not installed";
  }

  std::vector<std::string> launch(const std::string& before, const std::string& options) {
    // Open MPI refuses root, as which tests run in containers, and more ranks than cores.
    const std::string permit =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
        "OMPI_MCA_rmaps_base_oversubscribe=1 ";
    return lines_of(permit + before + "'" + GetParam().command + "' " + options);
  }
};

TEST_P(LiveLaunch, TellsEachRankItsPositionAndAllTheSameKey) {
  const std::vector<std::string> first = launch("", "-n 2");
  ASSERT_EQ(first.size(), 2U) << testing::PrintToString(first);
  EXPECT_THAT(first[0], StartsWith(GetParam().launcher + "; rank 0 of 2;"));
  EXPECT_THAT(first[1], StartsWith(GetParam().launcher + "; rank 1 of 2;"));
  EXPECT_EQ(part_of(first[0], "key"), part_of(first[1], "key"));
  const std::vector<std::string> second = launch("", "-n 1");
  ASSERT_EQ(second.size(), 1U) << testing::PrintToString(second);
  EXPECT_NE(part_of(second[0], "key"), part_of(first[0], "key"));
}

TEST_P(LiveLaunch, GivesABoundRankThePoolOfItsLauncher) {
  const std::vector<std::string> lines = launch("", "-n 1 " + GetParam().bind_to_core);
  ASSERT_EQ(lines.size(), 1U) << testing::PrintToString(lines);
  EXPECT_EQ(part_of(lines[0], "pool"), "grant " + own_cpus()->to_string());
}

TEST_P(LiveLaunch, StaysInsideWhatTasksetLeavesTheLauncher) {
  const std::string last = std::to_string(own_cpus()->last());
  const std::vector<std::string> lines = launch("taskset -c " + last + " ", "-n 1");
  ASSERT_EQ(lines.size(), 1U) << testing::PrintToString(lines);
  EXPECT_EQ(part_of(lines[0], "pool"), "grant " + last);
}

INSTANTIATE_TEST_SUITE_P(
    All, LiveLaunch,
    testing::Values(Installed{"Mpich", "hydra", HIERBAR_MPIEXEC_MPICH, "-bind-to core"},
                    Installed{"OpenMpi", "Open MPI", HIERBAR_MPIEXEC_OPENMPI, "--bind-to core"}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace hierbar
