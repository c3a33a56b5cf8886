// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who passes a release on to whom, without memory: simulated/pass_on_sim_test.cpp has that.
#include "barrier/pass_on.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/test_plans.hpp"

namespace hierbar::test {
namespace {

// How a release spreads when everybody passes on at once.
struct Spread {
  std::vector<std::uint32_t> num_releases;  // that reached a participant
  std::uint32_t most_by_one = 0;            // releases that one thread does
  std::uint32_t longest_chain = 0;          // of releases from participant 0
};

Spread spread(const hierbar_plan& plan, const ReleaseWidths& widths) {
  Spread result;
  result.num_releases.assign(plan.num_participants, 0);
  std::vector<std::uint32_t> released{0};
  std::vector<std::uint32_t> chains{0};
  for (std::size_t next = 0; next < released.size(); ++next) {
    std::uint32_t num_by_this = 0;
    const std::uint32_t chain = chains[next] + 1;
    pass_on(PlanShape{plan}, released[next], widths, [&](std::uint32_t other) {
      ++num_by_this;
      if (++result.num_releases[other] != 1) return;
      released.push_back(other);
      chains.push_back(chain);
      result.longest_chain = std::max(result.longest_chain, chain);
    });
    result.most_by_one = std::max(result.most_by_one, num_by_this);
  }
  return result;
}

TEST(PassOn, ReleasesEverybodyButTheFirstOnce) {
  for (const TestPlan& plan : pass_on_plans()) {
    for (const std::uint32_t width : {1U, 2U, 3U, 4U, 5U, 8U, kReleaseAtOnce}) {
      for (const std::uint32_t of_leaders : {2U, width}) {
        const Spread all = spread(plan.view(), {of_leaders, width});
        EXPECT_EQ(all.num_releases[0], 0U) << plan.name();
        for (std::size_t p = 1; p < all.num_releases.size(); ++p) {
          EXPECT_EQ(all.num_releases[p], 1U)
              << plan.name() << ", width " << width << ", participant " << p;
        }
      }
    }
  }
}

TEST(PassOn, NobodyReleasesMoreThanTheWidthOfEachQueue) {
  for (const TestPlan& plan : pass_on_plans()) {
    EXPECT_LE(spread(plan.view(), {kReleaseWidth, kReleaseWidth}).most_by_one, 2 * kReleaseWidth)
        << plan.name();
  }
}

TEST(PassOn, ChainsAreLogarithmic) {
  EXPECT_EQ(spread(make_flat(5).view(), {4, 4}).longest_chain, 1U);
  EXPECT_EQ(spread(make_flat(6).view(), {4, 4}).longest_chain, 2U);
  EXPECT_EQ(spread(make_flat(21).view(), {4, 4}).longest_chain, 2U);
  EXPECT_EQ(spread(make_flat(22).view(), {4, 4}).longest_chain, 3U);
  EXPECT_EQ(spread(make_flat(256).view(), {4, 4}).longest_chain, 4U);
}

// As before anybody passed anything on: who stands in line for a cpu keeps nobody waiting.
TEST(PassOn, AtOnceTheHeadOfEachQueueReleasesAll) {
  for (const std::uint32_t count : {2U, 3U, 8U, 16U, 64U}) {
    const TestPlan plan = make_crews(count, 2);
    const Spread all = spread(plan.view(), {kReleaseAtOnce, kReleaseAtOnce});
    EXPECT_EQ(all.longest_chain, 1U) << plan.name();
    EXPECT_EQ(all.most_by_one, count - 1) << plan.name();
  }
}

// Small teams: only participant 0 releases, whatever the width.
TEST(PassOn, ChangesNothingForUpToFiveInOneQueue) {
  for (std::uint32_t count = 1; count <= kReleaseWidth + 1; ++count) {
    const TestPlan plan = make_flat(count);
    for (std::uint32_t me = 0; me < count; ++me) {
      std::vector<std::uint32_t> released;
      pass_on(PlanShape{plan.view()}, me, {kReleaseWidth, kReleaseWidth},
              [&](std::uint32_t other) { released.push_back(other); });
      EXPECT_EQ(released.size(), me == 0 ? count - 1 : 0);
      EXPECT_TRUE(std::is_sorted(released.begin(), released.end()));
    }
  }
}

TEST(PassOn, LeadersComeBeforeMembers) {
  const TestPlan plan = make_forest("two_domains", {{4, 4}, 3, HIERBAR_RELEASE_FLAGS});
  std::vector<std::uint32_t> released;
  pass_on(PlanShape{plan.view()}, 0, {kReleaseWidth, kReleaseWidth},
          [&](std::uint32_t other) { released.push_back(other); });
  EXPECT_EQ(released, (std::vector<std::uint32_t>{4, 1, 2, 3}));
}

}  // namespace
}  // namespace hierbar::test
