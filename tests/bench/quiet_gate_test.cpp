// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/others.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/common/host.hpp"

namespace hierbar::bench {
namespace {

// Processes that compute on an eighth of the machine's cpus. None if that many are not allowed.
std::vector<std::unique_ptr<BusyNeighbour>> hold_cpus(const std::vector<int>& cpus) {
  std::vector<std::unique_ptr<BusyNeighbour>> neighbours;
  const auto count = 1 + static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)) / 8;
  for (std::size_t i = 1; i <= count && count < cpus.size(); ++i) {
    neighbours.push_back(std::make_unique<BusyNeighbour>(std::vector<int>{cpus[0], cpus[i]}));
  }
  return neighbours;
}

TEST(QuietGate, WaitsNoLongerInAllThanItsLimitWhileOthersCompute) {
  const Host host = describe_host();
  const auto neighbours = hold_cpus(host.cpus);
  if (neighbours.empty()) GTEST_SKIP() << "too few of the machine's cpus are allowed";
  ASSERT_TRUE(neighbours.front()->is_there());
  QuietGate gate(0.9);
  std::vector<std::string> said;
  const auto say = [&said](const std::string& line) { said.push_back(line); };
  gate.wait(say);
  EXPECT_NEAR(gate.waited_s(), 0.9, 1e-6);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_THAT(
      said.front(),
      testing::MatchesRegex(
          "waiting for a quieter machine, 0 of at most 1 s: others take [0-9]+ % of the cpus"));
  gate.wait(say);
  EXPECT_EQ(said.size(), 3u) << "the limit is that of all waits";
}

TEST(QuietGate, WithoutALimitDoesNotLook) {
  QuietGate gate(0);
  gate.wait([](const std::string& line) { FAIL() << line; });
  EXPECT_EQ(gate.waited_s(), 0);
}

TEST(BusyNeighbour, IsGoneAndLeavesTheCpusAsTheyWere) {
  const Host host = describe_host();
  if (host.cpus.size() < 2) GTEST_SKIP() << "one cpu";
  {
    const BusyNeighbour neighbour(host.cpus);
    ASSERT_TRUE(neighbour.is_there());
    EXPECT_EQ(describe_host().cpus.size(), 2u);
  }
  EXPECT_EQ(describe_host().cpus, host.cpus);
}

}  // namespace
}  // namespace hierbar::bench
