// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/plan_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "barrier/flat_plan.hpp"
#include "mpi/node/plan_library.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::mpi {
namespace {

std::vector<std::byte> image_of(const hierbar_plan& plan) {
  std::vector<std::byte> image(plan_image_bytes(plan));
  write_plan_image(plan, image.data());
  return image;
}

void expect_same(const hierbar_plan& copied, const hierbar_plan& plan) {
  EXPECT_EQ(copied.num_slots, plan.num_slots);
  EXPECT_EQ(copied.release, plan.release);
  EXPECT_EQ(copied.line_bytes, plan.line_bytes);
  EXPECT_EQ(copied.depth, plan.depth);
  ASSERT_EQ(copied.num_leaders, plan.num_leaders);
  EXPECT_NE(copied.nodes, plan.nodes);
  EXPECT_EQ(
      std::memcmp(copied.nodes, plan.nodes, sizeof(hierbar_plan_node) * plan.num_participants), 0);
  for (std::uint32_t i = 0; i < plan.num_leaders; ++i)
    EXPECT_EQ(copied.leaders[i], plan.leaders[i]);
  for (std::uint32_t i = 0; i < plan.num_participants - plan.num_leaders; ++i)
    EXPECT_EQ(copied.children[i], plan.children[i]);
}

TEST(PlanImage, ACopyIsThePlanAgain) {
  for (const test::TestPlan& plan :
       {test::make_flat(1), test::make_flat(5), test::make_forest("two", {{2, 3}}),
        test::make_forest("deep", {{9, 4, 1}, 2, HIERBAR_RELEASE_LINES})}) {
    const auto copied = ReadPlan::copy(image_of(plan.view()).data(), plan.view().num_participants);
    ASSERT_TRUE(copied);
    expect_same(copied->plan(), plan.view());
  }
}

TEST(PlanImage, APlanCanBeReadInPlace) {
  const test::TestPlan plan = test::make_forest("deep", {{9, 4, 1}, 2, HIERBAR_RELEASE_LINES});
  const std::vector<std::byte> image = image_of(plan.view());
  const auto read = ReadPlan::in_place(image.data(), plan.view().num_participants);
  ASSERT_TRUE(read);
  expect_same(read->plan(), plan.view());
  EXPECT_EQ(static_cast<const void*>(read->plan().nodes), image.data() + sizeof(hierbar_plan));
  EXPECT_FALSE(ReadPlan::in_place(image.data(), plan.view().num_participants + 1));
}

TEST(PlanImage, ACopyThatMovesKeepsItsArrays) {
  const FlatPlan flat(3);
  ReadPlan first = *ReadPlan::copy(image_of(flat.plan()).data(), 3);
  const ReadPlan second = std::move(first);
  expect_same(second.plan(), flat.plan());
}

TEST(PlanImage, AnImageForOthersIsRefused) {
  const std::vector<std::byte> image = image_of(FlatPlan(3).plan());
  EXPECT_FALSE(ReadPlan::copy(image.data(), 4));
  hierbar_plan other = FlatPlan(3).plan();
  std::vector<std::byte> other_version = image;
  other.abi_version = HIERBAR_PLAN_ABI_VERSION + 1;
  std::memcpy(other_version.data(), &other.abi_version, sizeof(other.abi_version));
  EXPECT_FALSE(ReadPlan::copy(other_version.data(), 3));
}

// Every index of a plan is followed by a barrier without another look.
TEST(PlanImage, ADamagedPlanIsRefused) {
  const test::TestPlan good = test::make_forest("two", {{2, 3}});
  const auto is_accepted = [&](auto damage) {
    hierbar_plan plan = good.view();
    std::vector<hierbar_plan_node> nodes(plan.nodes, plan.nodes + plan.num_participants);
    plan.nodes = nodes.data();
    damage(plan, nodes);
    return ReadPlan::copy(image_of(plan).data(), good.view().num_participants).has_value();
  };
  EXPECT_TRUE(is_accepted([](hierbar_plan&, auto&) {}));
  EXPECT_FALSE(is_accepted([](hierbar_plan&, auto& nodes) { nodes[1].parent = 4711; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan&, auto& nodes) { nodes[1].slot = 4711; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan&, auto& nodes) { nodes[1].slot = nodes[0].slot; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan&, auto& nodes) { nodes[0].first_child = 4711; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan&, auto& nodes) { nodes[0].num_children = 4711; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan& plan, auto&) { plan.num_slots = 0; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan& plan, auto&) { plan.line_bytes = 1; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan& plan, auto&) { plan.release = 2; }));
  EXPECT_FALSE(is_accepted([](hierbar_plan& plan, auto&) { plan.num_crews = 1; }));
}

// Which crew everybody is in; empty: there are no crews. Participant i may run on the cpus of mask
// i.
std::vector<std::uint32_t> crews_of(const std::vector<std::uint64_t>& masks) {
  std::vector<Binding> bindings;
  for (const std::uint64_t mask : masks) bindings.push_back({{mask}, 16, 0});
  const auto plan =
      ReadPlan::copy(make_plan_image(bindings)->data(), static_cast<std::uint32_t>(masks.size()));
  std::vector<std::uint32_t> crews;
  for (std::uint32_t i = 0; plan->plan().num_crews != 0 && i < masks.size(); ++i)
    crews.push_back(plan->plan().nodes[i].crew);
  return crews;
}

TEST(PlanImage, AFewThatShareCpusAreCrews) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(crews_of({1, 1, 2, 2}), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(crews_of({1, 2, 1, 2}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(crews_of({1, 2, 2}), ElementsAre(0, 1, 1));
  EXPECT_THAT(crews_of({3, 3, 3, 3}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(crews_of({1, 2, 4, 8}), IsEmpty()) << "a cpu for each";
  EXPECT_THAT(crews_of({15, 15, 15, 15}), IsEmpty());
  EXPECT_THAT(crews_of({1, 1}), IsEmpty()) << "the last to arrive is the last of all";
}

}  // namespace
}  // namespace hierbar::mpi
