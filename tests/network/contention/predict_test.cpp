// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "network/contention/predict.hpp"
#include "network/contention/traffic.hpp"
#include "tests/network/contention/paper_tables.hpp"

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

std::vector<FlowStep> steps_of(const Traffic& traffic, std::uint32_t num_ranks) {
  std::vector<FlowStep> steps;
  for_each_step(traffic, num_ranks, [&](const FlowStep& step) { steps.push_back(step); });
  return steps;
}

Traffic traffic(const std::string& text, const std::string& algorithm = "") {
  const Traffic plain = *parse_traffic(text);
  return algorithm.empty() ? plain : *with_algorithm(plain, algorithm);
}

TEST(Traffic, AnAllToAllBringsEveryBlockToItsRankOnce) {
  for (const char* algorithm : {"blocked", "blocked:1", "blocked:3", "pairwise"}) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
      for (const FlowStep& step : steps_of(traffic("alltoall:8", algorithm), n)) {
        for (const Flow& flow : step) ++count[{flow.from, flow.to}];
      }
      EXPECT_EQ(count.size(), n * (n - 1)) << algorithm;
      for (const auto& [pair, times] : count) {
        EXPECT_EQ(times, 1);
        EXPECT_NE(pair.first, pair.second);
      }
    }
  }
}

TEST(Traffic, BlocksHaveAsManyMessagesOfEachRankAsAsked) {
  const std::vector<FlowStep> steps = steps_of(traffic("alltoall:8", "blocked:3"), 8);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].size(), 24U);
  EXPECT_EQ(steps[2].size(), 8U);
}

// The blocks themselves are followed: rank r begins with a block for each offset.
TEST(Traffic, BrucksStepsCarryAllBlocks) {
  for (std::uint32_t n = 1; n <= 33; ++n) {
    double sent = 0;
    double expected = 0;
    for (const FlowStep& step : steps_of(traffic("alltoall:1", "bruck"), n)) {
      EXPECT_EQ(step.size(), n);
      for (const Flow& flow : step) sent += flow.num_bytes;
    }
    for (std::uint32_t offset = 1; offset < n; ++offset) expected += n * __builtin_popcount(offset);
    EXPECT_EQ(sent, expected) << n;
  }
}

TEST(Traffic, StarsAndHalosHaveTheirNeighbours) {
  const FlowStep star = steps_of(traffic("all-to-one:4"), 5).front();
  EXPECT_EQ(star.size(), 4U);
  for (const Flow& flow : star) EXPECT_EQ(flow.to, 0U);
  const FlowStep halo = steps_of(traffic("halo:4"), 12).front();  // 3 x 4: 9 + 8 borders
  EXPECT_EQ(halo.size(), 34U);
  const FlowStep line = steps_of(traffic("halo:4"), 7).front();
  EXPECT_EQ(line.size(), 12U);
}

TEST(Traffic, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(parse_traffic("scatter:1K").error(), HasSubstr("'scatter' is not a known pattern"));
  for (const char* text : {"alltoall", "alltoall:", "alltoall:0", "alltoall:x", "alltoall:1X",
                           "halo:-1", "halo:1MM", "halo:2048G"}) {
    EXPECT_FALSE(parse_traffic(text).ok()) << text;
  }
  EXPECT_FALSE(with_algorithm(traffic("halo:1"), "bruck").ok());
  for (const char* text : {"", "blocked:", "blocked:0", "blocked:65537", "bruck:2", "ring"}) {
    EXPECT_FALSE(with_algorithm(traffic("alltoall:1"), text).ok()) << text;
  }
  EXPECT_EQ(describe(traffic("alltoall:1024K")), "alltoall:1M, blocked:32");
  EXPECT_EQ(describe(traffic("halo:1000")), "halo:1000");
}

TEST(TrafficMatrix, IsReadAsItWasWritten) {
  const auto matrix = parse_matrix("# a comment\n0,10, 20\r\n3.5,0,0\n0,1e3,0\n");
  ASSERT_TRUE(matrix.ok()) << matrix.error();
  EXPECT_EQ(matrix->num_ranks, 3U);
  const FlowStep step = steps_of(*matrix, 3).front();
  EXPECT_EQ(step.size(), 4U);
  EXPECT_EQ(step[3].num_bytes, 1000);
  const auto counted = parse_matrix("0,8\n16,0\n# messages\n0,2\n4,0\n");
  ASSERT_TRUE(counted.ok()) << counted.error();
  EXPECT_EQ(steps_of(*counted, 2).front()[1].num_messages, 4);
}

TEST(TrafficMatrix, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {{"", "no numbers"},
               {"0,1\n", "not square: 1 lines, and 2 numbers in row 1"},
               {"0,1\n1\n", "not square"},
               {"0,-1\n1,0\n", "line 1: '-1' is negative"},
               {"0,a\n1,0\n", "'a' is no number"},
               {"0,\n1,0\n", "is no number"},
               {"0,inf\n1,0\n", "no number"},
               {"0,1e19\n1,0\n", "larger"},
               {"0,1\n1,0\n# messages\n1\n", "differs in size"}};
  for (const auto& one : cases) {
    const auto matrix = parse_matrix(one.text);
    ASSERT_FALSE(matrix.ok()) << one.text;
    EXPECT_THAT(matrix.error(), HasSubstr(one.message)) << one.text;
  }
}

// The paper's nodes: two packages of four cores, each a NUMA node with one L3.
Spot on_core(std::uint32_t node, std::uint32_t core) {
  return {node, core / 4, core / 4, core / 4};
}

std::vector<Spot> cores(std::uint32_t num_nodes, std::uint32_t per_node) {
  std::vector<Spot> spots;
  for (std::uint32_t node = 0; node < num_nodes; ++node) {
    for (std::uint32_t core = 0; core < per_node; ++core) spots.push_back(on_core(node, core));
  }
  return spots;
}

std::uint32_t cf_of(const std::vector<ChannelUse>& uses, ChannelKind kind) {
  std::uint32_t cf = 0;
  for (const ChannelUse& use : uses) cf = use.channel.kind == kind ? std::max(cf, use.cf) : cf;
  return cf;
}

FlowStep all_at_once(std::uint32_t n) {
  FlowStep step;
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from != to) step.push_back({from, to, 100});
    }
  }
  return step;
}

// P3's figure 1 and its benchmark: cf pairs exchange over a memory controller, over QPI, over an
// adapter, and the channel's cf is their number.
TEST(ChannelUse, CountsThePairsOfThePapersBenchmark) {
  for (std::uint32_t pairs = 1; pairs <= 4; ++pairs) {
    FlowStep inside, packages, nodes;
    std::vector<Spot> one_package(2 * pairs, on_core(0, 0)), two_packages, two_nodes;
    for (std::uint32_t i = 0; i < 2 * pairs; ++i) {
      two_packages.push_back(on_core(0, i < pairs ? i : 4 + i - pairs));
      two_nodes.push_back(on_core(i < pairs ? 0 : 1, i % pairs));
    }
    for (std::uint32_t i = 0; i < pairs; ++i) {
      for (FlowStep* step : {&inside, &packages, &nodes}) {
        step->push_back({i, i + pairs, 100});
        step->push_back({i + pairs, i, 100});
      }
    }
    EXPECT_EQ(cf_of(channel_uses(inside, one_package), ChannelKind::kL3), pairs);
    EXPECT_EQ(cf_of(channel_uses(packages, two_packages), ChannelKind::kPackage), pairs);
    EXPECT_EQ(cf_of(channel_uses(nodes, two_nodes), ChannelKind::kNetwork), pairs);
    EXPECT_EQ(channel_uses(nodes, two_nodes).size(), 2U) << "one adapter of each node";
    EXPECT_DOUBLE_EQ(channel_uses(inside, one_package).front().num_bytes, 100.0 * pairs);
  }
}

// The subsystems of P3's table, all messages at once.
TEST(ChannelUse, HasTheStatisticsOfThePapersSubsystems) {
  const auto network = [](std::uint32_t nodes, std::uint32_t per_node) {
    return cf_of(channel_uses(all_at_once(nodes * per_node), cores(nodes, per_node)),
                 ChannelKind::kNetwork);
  };
  EXPECT_EQ(network(2, 1), 1U);
  EXPECT_EQ(network(2, 2), 4U);
  EXPECT_EQ(network(4, 1), 3U);
  EXPECT_EQ(network(2, 4), 16U);
  EXPECT_EQ(network(4, 2), 12U);
  EXPECT_EQ(network(1, 8), 0U);
  const std::vector<ChannelUse> node = channel_uses(all_at_once(8), cores(1, 8));
  EXPECT_EQ(cf_of(node, ChannelKind::kL3), 6U) << "12 messages among the 4 ranks of a package";
  EXPECT_EQ(cf_of(node, ChannelKind::kPackage), 16U);
}

TEST(ChannelUse, DirectionsCountApartWhereThereAreAny) {
  const std::vector<Spot> spots = cores(3, 1);
  const std::vector<ChannelUse> uses = channel_uses({{0, 2, 10}, {1, 2, 30}}, spots);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[2].channel.node, 2U);
  EXPECT_EQ(uses[2].cf, 2U);
  EXPECT_DOUBLE_EQ(uses[2].num_bytes, 40);
  EXPECT_DOUBLE_EQ(uses[2].message_bytes, 20);
}

TEST(ChannelUse, TheSmallestUnitThatHoldsBothIsTheChannel) {
  const std::vector<Spot> spots{
      {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}, {0, 1, 2, 4}, {1, 0, 0, 0}};
  const ChannelKind kinds[] = {ChannelKind::kNuma, ChannelKind::kAcrossNuma, ChannelKind::kPackage,
                               ChannelKind::kNetwork};
  for (std::uint32_t to = 1; to < 5; ++to)
    EXPECT_EQ(channel_uses({{0, to, 1}}, spots).front().channel.kind, kinds[to - 1]);
}

TEST(ChannelUse, ManyMessagesOfAPairAreOnePairThatRepeats) {
  const std::vector<ChannelUse> uses = channel_uses({{0, 1, 1000, 10}}, cores(2, 1));
  EXPECT_EQ(uses[0].cf, 1U);
  EXPECT_DOUBLE_EQ(uses[0].message_bytes, 100);
  EXPECT_DOUBLE_EQ(uses[0].num_rounds, 10);
}

// A node with packages of four cores.
std::vector<Spot> spots_of(const Split& split) {
  std::vector<Spot> spots;
  for (std::uint32_t node = 0; node < split.size(); ++node) {
    for (std::uint32_t core = 0; core < split[node]; ++core)
      spots.push_back({node, core / 4, core / 4, core / 4});
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

double seconds(const Contention& contention, const Split& split, std::uint64_t num_bytes,
               Model model, const std::string& algorithm = "blocked:32") {
  const auto prediction = predict(alltoall(num_bytes, algorithm), spots_of(split),
                                  {contention, kAssumedParameters}, model);
  return prediction ? prediction->time_us.median * 1e-6 : -1;
}

TEST(Predict, ThePaperModelAddsTheSlowestChannelOfEachStep) {
  const Contention machine = fair_machine();
  const auto& network = machine.tables.at(ChannelKind::kNetwork);
  const auto& l3 = machine.tables.at(ChannelKind::kL3);
  // Pairwise among 2 + 2: in step 1 one message of each direction crosses, in step 2 both.
  const double steps = network.time_us(1e6, 1).median + network.time_us(1e6, 2).median +
                       network.time_us(1e6, 1).median;
  EXPECT_NEAR(seconds(machine, {2, 2}, 1000000, Model::kPaper, "pairwise"), steps * 1e-6, 1e-9);
  EXPECT_NEAR(seconds(machine, {2}, 1000000, Model::kPaper), l3.time_us(1e6, 1).median * 1e-6,
              1e-9);
  EXPECT_EQ(seconds(machine, {1}, 1000000, Model::kPaper), 0);
}

TEST(Predict, TheSharedModelMovesAllBytesThroughTheAdapter) {
  const Contention machine = fair_machine();
  const double megabyte = 1U << 20;
  for (const auto& [split, crossing] :
       {std::pair<Split, int>{{4, 4}, 16}, {{2, 2, 2, 2}, 12}, {Split(8, 1), 7}}) {
    EXPECT_NEAR(seconds(machine, split, 1U << 20, Model::kShared), crossing * megabyte / 12.5e6,
                0.02)
        << describe(split);
    EXPECT_NEAR(seconds(machine, split, 1U << 20, Model::kShared, "pairwise"),
                crossing * megabyte / 12.5e6, 0.02)
        << describe(split);
  }
}

TEST(Predict, NamesTheChannelThatBindsAndItsStatistics) {
  const Contention machine = fair_machine();
  const auto two =
      *predict(alltoall(1U << 20, "blocked"), spots_of({4, 4}), {machine, {}}, Model::kShared);
  EXPECT_EQ(two.binding, ChannelKind::kNetwork);
  EXPECT_EQ(two.num_steps, 1U);
  EXPECT_EQ(two.channels.at(ChannelKind::kNetwork).largest_cf, 16U);
  EXPECT_EQ(two.channels.at(ChannelKind::kL3).largest_cf, 6U);
  EXPECT_LT(two.time_us.lower, two.time_us.median);
  const auto one =
      *predict(alltoall(1U << 20, "pairwise"), spots_of({8}), {machine, {}}, Model::kPaper);
  EXPECT_EQ(one.binding, ChannelKind::kPackage);
  EXPECT_EQ(one.channels.at(ChannelKind::kPackage).num_steps, 7U);
  EXPECT_DOUBLE_EQ(one.channels.at(ChannelKind::kPackage).mean_cf,
                   (1 + 2 + 3 + 4 + 3 + 2 + 1) / 7.0);
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
  static std::vector<std::uint32_t> order(const std::vector<Split>& splits,
                                          std::uint64_t megabytes) {
    const Contention machine = paper_machine();
    std::vector<Quartiles> times;
    for (const Split& split : splits) {
      times.push_back(predict(alltoall(megabytes << 20, "blocked"), spots_of(split), {machine, {}},
                              Model::kPaper)
                          ->time_us);
    }
    return rank_by_time(times);
  }
};

TEST_F(PaperOrders, OfTwoAndOfEightRanksComeOutAsPublished) {
  for (const std::uint64_t megabytes : {16, 64, 128}) {
    EXPECT_EQ(order({{2}, {1, 1}}, megabytes), (std::vector<std::uint32_t>{1, 2})) << megabytes;
    EXPECT_EQ(order({{8}, {4, 4}, {2, 2, 2, 2}}, megabytes), (std::vector<std::uint32_t>{1, 3, 2}))
        << megabytes;
  }
}

// P3 has 4 x 1 before 1 x 4, by 5 % in its prediction and 6 % in its measurement. What is printed
// does not suffice to get that: t(1 MB, cf) is in figures only. 2 x 2 is the last, as published.
TEST_F(PaperOrders, OfFourRanksTheSlowestComesOutAsPublished) {
  for (const std::uint64_t megabytes : {32, 64, 128})
    EXPECT_EQ(order({{4}, {2, 2}, {1, 1, 1, 1}}, megabytes)[1], 3U);
}

TEST(Predict, RefusesAChannelOfWhichNothingIsKnown) {
  Contention machine = fair_machine();
  machine.tables.erase(ChannelKind::kNetwork);
  const auto prediction =
      predict(alltoall(1, "bruck"), spots_of({1, 1}), {machine, {}}, Model::kPaper);
  ASSERT_FALSE(prediction.ok());
  EXPECT_THAT(prediction.error(), HasSubstr("'network', which was not measured"));
}

}  // namespace
}  // namespace hierbar::network
