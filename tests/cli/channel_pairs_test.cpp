// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/channel_pairs.hpp"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using enum Level;

std::map<std::string, Pairs> pairs_of(const Machine& machine) {
  std::map<std::string, Pairs> pairs;
  for (const network::WorkerChannel& channel : channels_of(machine))
    pairs[channel.name] = channel.cpu_pairs;
  return pairs;
}

TEST(ChannelPairs, HaveTheChannelBetweenThem) {
  const auto pairs =
      pairs_of(test::make_machine("m", {{kPackage, 2}, {kNuma, 2}, {kL3, 2}, {kCore, 2}}, 1));
  EXPECT_THAT(pairs.at("l3"), ElementsAre(std::pair(0U, 1U)));
  EXPECT_THAT(pairs.at("numa"), ElementsAre(std::pair(0U, 2U), std::pair(1U, 3U)));
  EXPECT_EQ(pairs.at("across-numa").size(), 4U);
  EXPECT_EQ(pairs.at("across-numa").front(), std::pair(0U, 4U));
  EXPECT_EQ(pairs.at("package").size(), 8U);
  EXPECT_EQ(pairs.at("package").back(), std::pair(7U, 15U));
  EXPECT_TRUE(pairs.at("network").empty());
}

TEST(ChannelPairs, LeaveOutWhatTheMachineLacks) {
  const auto pairs = pairs_of(test::make_machine("m", {{kL3, 1}, {kCore, 2}}, 2));
  EXPECT_EQ(pairs.size(), 2U);
  EXPECT_THAT(pairs.at("l3"), ElementsAre(std::pair(0U, 2U))) << "cores, not hardware threads";
  EXPECT_EQ(pairs_of(test::make_machine("m", {{kCore, 1}}, 1)).size(), 1U);
  EXPECT_THAT(pairs_of(test::make_machine("m", {{kCore, 4}}, 1)).at("numa"),
              ElementsAre(std::pair(0U, 1U), std::pair(2U, 3U)));
}

TEST(ChannelPairs, StayOnTheCpusThatMayBeUsed) {
  Machine machine = test::make_machine("m", {{kPackage, 2}, {kL3, 1}, {kCore, 4}}, 1);
  machine.allowed = CpuSet::range(1, 5);
  const auto pairs = pairs_of(machine);
  EXPECT_THAT(pairs.at("l3"), ElementsAre(std::pair(1U, 2U)));
  EXPECT_THAT(pairs.at("package"), ElementsAre(std::pair(1U, 4U), std::pair(2U, 5U)));
}

}  // namespace
}  // namespace hierbar
