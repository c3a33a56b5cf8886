// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/levels.hpp"

#include <gtest/gtest.h>

#include <array>

#include "trace/stamps.h"

namespace hierbar::report {
namespace {

// Two trees: 0 gathers from 1 and 2, 2 from 3; 4 gathers from 5. The leaders are 0 and 4.
const Shape kShape(7, {0, 0, 0, 2, 4, 4});

struct Times {
  std::uint64_t arrived, gathered, released;
};

class Levels : public testing::Test {
 protected:
  bool add(const std::array<Times, 6>& told, std::uint64_t span) {
    for (std::size_t i = 0; i < told.size(); ++i) {
      phases_[i].arrived = told[i].arrived;
      phases_[i].gathered = told[i].gathered;
      phases_[i].released = told[i].released;
      of_all_.push_back(&phases_[i]);
    }
    const bool added = add_episode(times_, kShape, of_all_, span, clock_);
    EXPECT_TRUE(times_.adds_up());
    return added;
  }
  std::uint64_t sum() const {
    std::uint64_t sum = times_.exchange.sum_ns() + times_.outside.sum_ns();
    for (const Histogram& level : times_.gather) sum += level.sum_ns();
    for (const Histogram& level : times_.release) sum += level.sum_ns();
    return sum;
  }
  const TraceClock clock_ = TraceClock::system();
  std::array<Phases, 6> phases_;
  std::vector<const Phases*> of_all_;
  LevelTimes times_;
};

TEST_F(Levels, KnowTheTreesDepth) {
  EXPECT_EQ(kShape.depths, (std::vector<std::uint32_t>{0, 1, 1, 2, 0, 1}));
  EXPECT_EQ(kShape.num_levels, 2U);
}

TEST_F(Levels, KnowWhatTheirGroupsShare) {
  const Shape shape(7, {0, 0, 0, 2, 4, 4},
                    {HIERBAR_UNIT_L3, 0, HIERBAR_UNIT_L2, 0, HIERBAR_UNIT_NUMA, 0},
                    HIERBAR_UNIT_MACHINE);
  ASSERT_EQ(shape.levels.size(), 3U);
  EXPECT_EQ(shape.levels[0].name, "machine");
  EXPECT_EQ(shape.levels[0].groups.at(0).threads, (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(shape.levels[1].name, "L3/NUMA");
  EXPECT_EQ(shape.levels[1].groups.at(0).threads, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(shape.levels[1].groups.at(1).threads, (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(shape.levels[2].groups.at(0).unit, "L2");
  EXPECT_EQ(shape.levels[2].groups.at(0).threads, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(kShape.levels[1].name, "") << "of a runtime that does not tell";
}

// The last to arrive is 3, at the bottom of one tree, the last to leave 5 in the other.
TEST_F(Levels, FollowTheCriticalPath) {
  ASSERT_TRUE(add({{{100, 1050, 1075},
                    {120, 0, 1090},
                    {90, 1020, 1095},
                    {1000, 0, 1099},
                    {80, 110, 1080},
                    {70, 0, 1110}}},
                  125));
  EXPECT_EQ(times_.gather[1].sum_ns(), 20U) << "3 to 2";
  EXPECT_EQ(times_.gather[0].sum_ns(), 30U) << "2 to 0";
  EXPECT_EQ(times_.exchange.sum_ns(), 30U) << "0 to 4";
  EXPECT_EQ(times_.release[0].sum_ns(), 30U) << "4 to 5";
  EXPECT_EQ(times_.release[1].count(), 0U) << "not on the path";
  EXPECT_EQ(times_.outside.sum_ns(), 15U);
  EXPECT_EQ(sum(), 125U);
}

// The last to arrive is a leader, whose group has been complete but for itself.
TEST_F(Levels, CountALeadersOwnGroup) {
  ASSERT_TRUE(add({{{100, 125, 1075},
                    {120, 0, 1090},
                    {90, 115, 1095},
                    {100, 0, 1120},
                    {1000, 1004, 1080},
                    {70, 0, 1110}}},
                  120));
  EXPECT_EQ(times_.gather[0].sum_ns(), 4U);
  EXPECT_EQ(times_.exchange.sum_ns(), 71U);
  EXPECT_EQ(times_.release[0].sum_ns(), 20U) << "0 to 2";
  EXPECT_EQ(times_.release[1].sum_ns(), 25U) << "2 to 3";
  EXPECT_EQ(times_.outside.sum_ns(), 0U);
  EXPECT_EQ(sum(), 120U);
}

TEST_F(Levels, RefuseStampsThatContradictEachOther) {
  EXPECT_FALSE(add({{{100, 1050, 1040},
                     {120, 0, 1090},
                     {90, 1020, 1095},
                     {1000, 0, 1120},
                     {80, 110, 1080},
                     {70, 0, 1110}}},
                   125));
  EXPECT_EQ(sum(), 0U);
}

TEST_F(Levels, ThatDoNotAddUpAreFound) {
  ASSERT_TRUE(add({{{100, 1050, 1075},
                    {120, 0, 1090},
                    {90, 1020, 1095},
                    {1000, 0, 1099},
                    {80, 110, 1080},
                    {70, 0, 1110}}},
                  125));
  LevelTimes more = times_, less = times_;
  more.exchange.add(6);
  EXPECT_FALSE(more.adds_up());
  less.total_ns += 6 + 6;  // more than the rounding of its steps
  EXPECT_FALSE(less.adds_up());
}

TEST_F(Levels, AreNotLongerThanTheBarrier) {
  EXPECT_FALSE(add({{{100, 1050, 1075},
                     {120, 0, 1090},
                     {90, 1020, 1095},
                     {1000, 0, 1099},
                     {80, 110, 1080},
                     {70, 0, 1110}}},
                   100));
}

}  // namespace
}  // namespace hierbar::report
