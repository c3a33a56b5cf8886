// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/predict.hpp"

#include <gmock/gmock.h>

#include "network/contention/splits.hpp"
#include "tests/network/contention/paper_tables.hpp"

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

// A node with packages of four cores.
std::vector<Spot> spots_of(const Split& split) {
  std::vector<Spot> spots;
  for (std::uint32_t node = 0; node < split.size(); ++node) {
    for (std::uint32_t core = 0; core < split[node]; ++core) spots.push_back({node, core / 4, core / 4, core / 4});
  }
  return spots;
}

Traffic alltoall(std::uint64_t num_bytes, const std::string& algorithm) {
  Traffic traffic{.num_bytes = num_bytes, .bytes = {}, .messages = {}};
  return *with_algorithm(std::move(traffic), algorithm);
}

// t(m, cf) of channels that share their bandwidth fairly.
ContentionTable fair_table(double start_us, double bytes_per_us, std::uint32_t most_cf = 4) {
  ContentionTable table;
  for (std::uint64_t size = 1024; size <= (16U << 20); size *= 4) {
    for (std::uint32_t cf = 1; cf <= most_cf; ++cf) {
      const double time = (start_us + cf * static_cast<double>(size) / bytes_per_us) / 2;
      table.put(size, cf, {time * 0.98, time, time * 1.02});
    }
  }
  return table;
}

Contention fair_machine() {
  Contention contention{"test", "", {}};
  contention.tables[ChannelKind::kL3] = fair_table(1, 5000);
  contention.tables[ChannelKind::kPackage] = fair_table(2, 3000);
  contention.tables[ChannelKind::kNetwork] = fair_table(100, 12.5);
  return contention;
}

double seconds(const Contention& contention, const Split& split, std::uint64_t num_bytes, Model model,
               const std::string& algorithm = "blocked:32") {
  const auto prediction = predict(alltoall(num_bytes, algorithm), spots_of(split), {contention, kAssumedParameters}, model);
  return prediction ? prediction->time_us.median * 1e-6 : -1;
}

TEST(Predict, ThePaperModelAddsTheSlowestChannelOfEachStep) {
  const Contention machine = fair_machine();
  const auto& network = machine.tables.at(ChannelKind::kNetwork);
  const auto& l3 = machine.tables.at(ChannelKind::kL3);
  // Pairwise among 2 + 2: in step 1 one message of each direction crosses, in step 2 both.
  const double steps = network.time_us(1e6, 1).median + network.time_us(1e6, 2).median + network.time_us(1e6, 1).median;
  EXPECT_NEAR(seconds(machine, {2, 2}, 1000000, Model::kPaper, "pairwise"), steps * 1e-6, 1e-9);
  EXPECT_NEAR(seconds(machine, {2}, 1000000, Model::kPaper), l3.time_us(1e6, 1).median * 1e-6, 1e-9);
  EXPECT_EQ(seconds(machine, {1}, 1000000, Model::kPaper), 0);
}

TEST(Predict, TheSharedModelMovesAllBytesThroughTheAdapter) {
  const Contention machine = fair_machine();
  const double megabyte = 1U << 20;
  for (const auto& [split, crossing] : {std::pair<Split, int>{{4, 4}, 16}, {{2, 2, 2, 2}, 12}, {Split(8, 1), 7}}) {
    EXPECT_NEAR(seconds(machine, split, 1U << 20, Model::kShared), crossing * megabyte / 12.5e6, 0.02) << describe(split);
    EXPECT_NEAR(seconds(machine, split, 1U << 20, Model::kShared, "pairwise"), crossing * megabyte / 12.5e6, 0.02)
        << describe(split);
  }
}

TEST(Predict, NamesTheChannelThatBindsAndItsStatistics) {
  const Contention machine = fair_machine();
  const auto two = *predict(alltoall(1U << 20, "blocked"), spots_of({4, 4}), {machine, {}}, Model::kShared);
  EXPECT_EQ(two.binding, ChannelKind::kNetwork);
  EXPECT_EQ(two.num_steps, 1U);
  EXPECT_EQ(two.channels.at(ChannelKind::kNetwork).largest_cf, 16U);
  EXPECT_EQ(two.channels.at(ChannelKind::kL3).largest_cf, 6U);
  EXPECT_LT(two.time_us.lower, two.time_us.median);
  const auto one = *predict(alltoall(1U << 20, "pairwise"), spots_of({8}), {machine, {}}, Model::kPaper);
  EXPECT_EQ(one.binding, ChannelKind::kPackage);
  EXPECT_EQ(one.channels.at(ChannelKind::kPackage).num_steps, 7U);
  EXPECT_DOUBLE_EQ(one.channels.at(ChannelKind::kPackage).mean_cf, (1 + 2 + 3 + 4 + 3 + 2 + 1) / 7.0);
}

// With the slowdowns that P3 prints, for one pair what its table says of rank 2 (1 x 2: 160 us,
// 2 x 1: 330 us for 1 MB), and for QPI, whose time is in a figure only, the time between them.
class PaperOrders : public testing::Test {
 protected:
  static Contention paper_machine() {
    Contention contention{"P3", "", {}};
    contention.tables[ChannelKind::kL3] = test::table_of(test::figure_3a(), 160);
    contention.tables[ChannelKind::kPackage] = test::table_of(test::figure_4(), 200);
    contention.tables[ChannelKind::kNetwork] = test::table_of(test::figure_5a(), 330);
    return contention;
  }
  static std::vector<std::uint32_t> order(const std::vector<Split>& splits, std::uint64_t megabytes) {
    const Contention machine = paper_machine();
    std::vector<Quartiles> times;
    for (const Split& split : splits) {
      times.push_back(predict(alltoall(megabytes << 20, "blocked"), spots_of(split), {machine, {}}, Model::kPaper)->time_us);
    }
    return rank_by_time(times);
  }
};

TEST_F(PaperOrders, OfTwoAndOfEightRanksComeOutAsPublished) {
  for (const std::uint64_t megabytes : {16, 64, 128}) {
    EXPECT_EQ(order({{2}, {1, 1}}, megabytes), (std::vector<std::uint32_t>{1, 2})) << megabytes;
    EXPECT_EQ(order({{8}, {4, 4}, {2, 2, 2, 2}}, megabytes), (std::vector<std::uint32_t>{1, 3, 2})) << megabytes;
  }
}

// P3 has 4 x 1 before 1 x 4, by 5 % in its prediction and 6 % in its measurement. What is printed
// does not suffice to get that: t(1 MB, cf) is in figures only. 2 x 2 is the last, as published.
TEST_F(PaperOrders, OfFourRanksTheSlowestComesOutAsPublished) {
  for (const std::uint64_t megabytes : {32, 64, 128}) EXPECT_EQ(order({{4}, {2, 2}, {1, 1, 1, 1}}, megabytes)[1], 3U);
}

TEST(Predict, RefusesAChannelOfWhichNothingIsKnown) {
  Contention machine = fair_machine();
  machine.tables.erase(ChannelKind::kNetwork);
  const auto prediction = predict(alltoall(1, "bruck"), spots_of({1, 1}), {machine, {}}, Model::kPaper);
  ASSERT_FALSE(prediction.ok());
  EXPECT_THAT(prediction.error(), HasSubstr("'network', which was not measured"));
}

}  // namespace
}  // namespace hierbar::network
