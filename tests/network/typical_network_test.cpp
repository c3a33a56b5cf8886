// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <set>

#include "network/contention/predict.hpp"
#include "network/typical_network.hpp"

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TypicalNetworks, AreFoundByTheirNames) {
  std::set<std::string> names;
  for (const TypicalNetwork& one : typical_networks()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(find_typical_network(one.name), &one);
    EXPECT_THAT(typical_names(), HasSubstr(one.name));
  }
  EXPECT_EQ(find_typical_network("infiniband"), nullptr);
  EXPECT_EQ(find_typical_network(""), nullptr);
}

TEST(TypicalNetworks, SuggestWhatAWrongNameIsLike) {
  EXPECT_EQ(nearest_typical_names("infiniband-hrd"), "'infiniband-hdr'");
  EXPECT_EQ(nearest_typical_names("infiniband"), "'infiniband-hdr' or 'infiniband-16g'");
  EXPECT_EQ(nearest_typical_names("ethernet-10g"), "'ethernet-10g-tcp'");
  EXPECT_THAT(nearest_typical_names("token-ring"), IsEmpty());
  EXPECT_THAT(nearest_typical_names(""), IsEmpty());
  EXPECT_THAT(nearest_typical_names(std::string(100'000, 'i')), IsEmpty());
}

TEST(TypicalNetworks, HaveAnOriginForEachNumber) {
  for (const TypicalNetwork& one : typical_networks()) {
    EXPECT_TRUE(is_valid(one.parameters)) << one.name;
    std::string numbers;
    for (const Origin& origin : one.origins) {
      numbers += std::string(origin.number) + ";";
      for (const char* text : {origin.published, origin.source, origin.derivation})
        EXPECT_STRNE(text, "") << one.name;
      const bool is_dated = std::string(origin.source).find(", 20") != std::string::npos;
      EXPECT_TRUE(is_dated || std::string(origin.source) == "assumption")
          << one.name << ": " << origin.source;
    }
    for (const char* number : {"o_s", "o_r", "L;", "g;", "G;", "t(m, cf)"})
      EXPECT_THAT(numbers, HasSubstr(number)) << one.name;
  }
}

// A one-way time is what was published; L is what remains of it without the overheads.
TEST(TypicalNetworks, SplitThePublishedLatency) {
  const auto one_way_us = [](const char* name) {
    const Parameters& parameters = find_typical_network(name)->parameters;
    return parameters.send_overhead_us + parameters.latency_us + parameters.receive_overhead_us;
  };
  EXPECT_NEAR(one_way_us("infiniband-hdr"), 1.58, 0.01);
  EXPECT_NEAR(one_way_us("infiniband-16g"), 10.747 / 2, 0.01);
  EXPECT_NEAR(one_way_us("ethernet-10g-tcp"), (46.09 + 8 * 0.033) / 2, 0.01);
  EXPECT_NEAR(one_way_us("ethernet-cloud-tcp"), 31.67, 0.01);
}

// A byte costs at least G. In one source a stream of the largest messages is a quarter slower than
// messages one by one.
TEST(TypicalNetworks, AgreeWithThemselves) {
  for (const TypicalNetwork& one : typical_networks()) {
    ASSERT_FALSE(one.messages.empty()) << one.name;
    std::uint64_t last = 0;
    for (const PublishedMessage& message : one.messages) {
      EXPECT_GT(message.num_bytes, last) << one.name;
      last = message.num_bytes;
      EXPECT_GE(message.stream_us,
                0.99 * one.parameters.gap_per_byte_us * static_cast<double>(message.num_bytes))
          << one.name;
      EXPECT_LT(message.stream_us, message.latency_us * 1.3)
          << one.name << ": " << message.num_bytes;
    }
  }
}

TEST(TypicalNetworks, BoundAnExchangeFromBothSides) {
  for (const TypicalNetwork& one : typical_networks()) {
    const Contention contention = one.contention();
    for (const ChannelKind kind : kChannelKinds) {
      const ContentionTable* table = contention.table_for(kind);
      ASSERT_NE(table, nullptr) << one.name << ": " << channel_name(kind);
      const Quartiles alone = table->time_us(65536, 1);
      const Quartiles shared = table->time_us(65536, 8);
      EXPECT_DOUBLE_EQ(alone.upper, 2 * alone.lower) << one.name;
      EXPECT_LT(alone.lower, alone.median) << one.name;
      EXPECT_GT(shared.median, alone.median) << one.name;
      EXPECT_LE(shared.median, 8 * alone.median * 1.01)
          << one.name << ": more than one after the other";
    }
  }
}

// 63 messages of 64 KiB leave each node at 24.7 GB/s: 0.17 ms, and each of the two blocks of an
// all-to-all has a start-up.
TEST(TypicalNetworks, PredictAnAllToAllAboveTheLinksTime) {
  std::vector<Spot> spots;
  for (std::uint32_t node = 0; node < 64; ++node) spots.push_back({.node = node});
  const TypicalNetwork& network = *find_typical_network("infiniband-hdr");
  const auto traffic = parse_traffic("alltoall:64K");
  ASSERT_TRUE(traffic);
  const auto predicted =
      predict(*traffic, spots, {network.contention(), network.parameters}, Model::kShared);
  ASSERT_TRUE(predicted) << predicted.error();
  EXPECT_GT(predicted->time_us.lower, 63 * 65536 / 24672.0);
  EXPECT_LT(predicted->time_us.upper, 3 * 63 * 65536 / 24672.0);
}

}  // namespace
}  // namespace hierbar::network
