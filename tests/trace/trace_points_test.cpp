// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What Barrier::cross tells a trace: who tells what, and that the order of the stamps is that of
// the phases.

#include "barrier/trace_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/arch/counter.hpp"
#include "tests/barrier/thread_trial.hpp"

namespace hierbar::test {
namespace {

struct Stamps {
  std::uint64_t arrived = 0;
  std::uint64_t gathered = 0;
  std::uint64_t released = 0;
};

struct Trace : NoTrace {
  Stamps& stamps;
  void arrived() const noexcept { stamps.arrived = read_system_ns(); }
  void gathered() const noexcept { stamps.gathered = read_system_ns(); }
  void released() const noexcept { stamps.released = read_system_ns(); }
};

// The stamps of all episodes by participant.
std::vector<std::vector<Stamps>> trace(const TestPlan& plan, std::size_t num_episodes) {
  ThreadTrial<EngineSubject> trial(plan, WaitPolicy{.spin_polls = 0});
  std::vector<std::vector<Stamps>> stamps(trial.plan().num_participants,
                                          std::vector<Stamps>(num_episodes));
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    for (Stamps& episode : stamps[me]) trial.barrier().cross(mem, me, 0, Trace{{}, episode});
  });
  return stamps;
}

class TracePoints : public testing::TestWithParam<hierbar_release_kind> {};

TEST_P(TracePoints, FollowThePhases) {
  constexpr std::size_t kEpisodes = 200;
  const TestPlan plan = make_forest("forest", {{3, 2}, 2, GetParam()});
  const hierbar_plan view = plan.view();
  const auto stamps = trace(plan, kEpisodes);
  for (std::size_t e = 0; e < kEpisodes; ++e) {
    std::uint64_t last_arrival = 0;
    for (const auto& participant : stamps)
      last_arrival = std::max(last_arrival, participant[e].arrived);
    for (std::uint32_t i = 0; i < view.num_participants; ++i) {
      const Stamps& own = stamps[i][e];
      EXPECT_GT(own.arrived, 0U);
      EXPECT_GE(own.released, last_arrival) << "nobody leaves before all have arrived";
      const hierbar_plan_node& node = view.nodes[i];
      EXPECT_EQ(own.gathered != 0, node.num_children != 0)
          << "parents, and nobody else, tell that their group is complete";
      for (std::uint32_t c = 0; c < node.num_children; ++c) {
        const Stamps& child = stamps[view.children[node.first_child + c]][e];
        EXPECT_GE(own.gathered, std::max(child.arrived, child.gathered));
        EXPECT_GE(child.released, own.released);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Releases, TracePoints,
                         testing::Values(HIERBAR_RELEASE_FLAGS, HIERBAR_RELEASE_LINES),
                         [](const auto& kind) {
                           return kind.param == HIERBAR_RELEASE_FLAGS ? "flags" : "lines";
                         });

}  // namespace
}  // namespace hierbar::test
