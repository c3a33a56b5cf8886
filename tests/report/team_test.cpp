// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/team.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/arch/counter.hpp"
#include "tests/barrier/thread_trial.hpp"

namespace hierbar::report {
namespace {

const int kCode = 0;
constexpr std::uint32_t kKind = 3;

// What one thread does in one barrier, in ns after the episode's start.
struct Stay {
  std::uint64_t arrived = 0;
  std::uint64_t released = 0;
  std::uint64_t tasks = 0;
  std::uint64_t done = 0;  // 0: on arrival
};

// Which waits the threads use for their work.
enum class Waits { kNone, kAll, kSome };

// A team whose threads do as they are told, one after the other.
class ToldTeam {
 public:
  explicit ToldTeam(std::uint32_t size, std::uint64_t every = 1, Waits waits = Waits::kNone)
      : team_(size, every, clock_), size_(size), waits_(waits) {}

  void begin(std::uint32_t size) {
    size_ = size;
    team_.begin_region();
    threads_.clear();
    for (std::uint32_t i = 0; i < size; ++i) threads_.push_back(&team_.enter(i, size));
  }
  void begin() { begin(size_); }
  void end() { team_.end_region(); }

  // `absent` does not come to this barrier.
  void cross(const std::function<Stay(std::uint32_t)>& stay, std::uint32_t absent = ~0U) {
    std::vector<Record*> records(size_);
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (i != absent && threads_[i]->until_record.is_over())
        records[i] = &team_.open(*threads_[i], &kCode, kKind);
      if (records[i] == nullptr) continue;
      const Stay told = stay(i);
      const std::uint64_t arrived = now_ + told.arrived;
      records[i]->phases.arrived = arrived;
      records[i]->done = arrived;
      if (told.tasks != 0)
        RecordedTeam::add_task(*threads_[i], now_ + told.done - told.tasks, now_ + told.done);
    }
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (records[i] != nullptr && waits_in(i)) team_.use_wait(*threads_[i]);
    }
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (records[i] != nullptr && stay(i).released != 0)
        records[i]->phases.released = now_ + stay(i).released;
      if (records[i] != nullptr) team_.catch_up(*threads_[i]);
    }
    now_ += 1'000'000;
  }

  ThreadTimes thread(std::uint32_t me, std::uint32_t size) {
    ThreadTimes found;
    team_.flush();
    team_.tables(me)->threads.for_each([&](const Site& site, const ThreadTimes& times) {
      if (site == Site{&kCode, kKind, size}) found = times;
    });
    return found;
  }
  Histogram span() {
    Histogram sum;
    team_.flush();
    for (std::uint32_t i = 0; i < team_.capacity(); ++i) {
      if (const RecordedTeam::Tables* tables = team_.tables(i))
        tables->barriers.for_each(
            [&](const Site&, const BarrierTimes& times) { sum.merge(times.span); });
    }
    return sum;
  }
  Losses losses() {
    Losses sum;
    team_.flush();
    for (std::uint32_t i = 0; i < team_.capacity(); ++i) {
      const RecordedTeam::Tables* tables = team_.tables(i);
      if (tables == nullptr) continue;
      sum.left_out += tables->losses.left_out;
      sum.incomplete += tables->losses.incomplete;
      sum.backwards += tables->losses.backwards;
    }
    return sum;
  }

 private:
  // Some: at random, but thread 0 hardly ever.
  bool waits_in(std::uint32_t me) {
    if (waits_ != Waits::kSome) return waits_ == Waits::kAll;
    return std::bernoulli_distribution(me == 0 ? 0.02 : 0.6)(random_);
  }

  const TraceClock clock_ = TraceClock::system();
  std::mt19937 random_{1};
  RecordedTeam team_;
  std::vector<RecordedTeam::Participant*> threads_;
  std::uint32_t size_;
  const Waits waits_;
  std::uint64_t now_ = 1'000'000;
};

// Threads arrive at 100, 200, 300 and leave 50, 60, 70 after the last.
Stay one_after_the_other(std::uint32_t i) {
  return {.arrived = 100 * (i + 1), .released = 350 + 10 * i};
}

TEST(RecordedTeam, SeparatesImbalanceAndSync) {
  ToldTeam team(3);
  team.begin();
  team.cross(one_after_the_other);
  const ThreadTimes first = team.thread(0, 3), last = team.thread(2, 3);
  EXPECT_EQ(first.imbalance.count(), 1U);
  EXPECT_EQ(first.imbalance.sum_ns(), 200U);
  EXPECT_EQ(first.sync.sum_ns(), 50U);
  EXPECT_EQ(first.last_arrivals, 0U);
  EXPECT_EQ(last.imbalance.sum_ns(), 0U);
  EXPECT_EQ(last.sync.sum_ns(), 70U);
  EXPECT_EQ(last.last_arrivals, 1U);
  EXPECT_EQ(team.span().sum_ns(), 70U);
}

TEST(RecordedTeam, KeepsTasksApartAndTakesTheLastOnesEndForAnArrival) {
  ToldTeam team(2);
  team.begin();
  // Thread 0 waits 100, runs a task from 200 to 500, and waits for thread 1, which comes at 400 and
  // has one until 600.
  team.cross([](std::uint32_t i) {
    return i == 0 ? Stay{.arrived = 100, .released = 640, .tasks = 300, .done = 500}
                  : Stay{.arrived = 400, .released = 630, .tasks = 200, .done = 600};
  });
  const ThreadTimes waits = team.thread(0, 2), works = team.thread(1, 2);
  EXPECT_EQ(waits.imbalance.sum_ns(), 200U);
  EXPECT_EQ(waits.tasks_ns, 300U);
  EXPECT_EQ(waits.sync.sum_ns(), 40U);
  EXPECT_EQ(waits.imbalance.sum_ns() + waits.tasks_ns + waits.sync.sum_ns(), 640U - 100U);
  EXPECT_EQ(works.imbalance.sum_ns(), 0U);
  EXPECT_EQ(works.tasks_ns, 200U);
  EXPECT_EQ(works.last_arrivals, 1U);
}

TEST(RecordedTeam, CountsNoSyncForThreadsWhoseReleaseIsNotTold) {
  ToldTeam team(3);
  team.begin();
  team.cross([](std::uint32_t i) {
    return Stay{.arrived = 100 * (i + 1), .released = i == 0 ? 350U : 0U};
  });
  EXPECT_EQ(team.thread(0, 3).sync.sum_ns(), 50U);
  EXPECT_EQ(team.thread(1, 3).sync.count(), 0U);
  EXPECT_EQ(team.thread(1, 3).imbalance.sum_ns(), 100U);
  EXPECT_EQ(team.span().sum_ns(), 50U);
}

class TeamThatWaits : public testing::TestWithParam<Waits> {};

TEST_P(TeamThatWaits, AccountsForEveryEpisodeWhateverTheirNumber) {
  for (const std::uint64_t episodes : {1U, 31U, 33U, 63U, 64U, 65U, 95U, 96U, 97U, 125U, 126U, 127U,
                                       128U, 129U, 160U, 190U, 1000U}) {
    for (const std::uint32_t size : {2U, 3U, 100U}) {
      ToldTeam team(size, 1, GetParam());
      team.begin();
      for (std::uint64_t i = 0; i < episodes; ++i) team.cross(one_after_the_other);
      const Losses losses = team.losses();
      EXPECT_EQ(losses.incomplete, 0U);
      EXPECT_EQ(team.span().count() + losses.left_out, episodes);
      EXPECT_LE(losses.left_out, 2 * (episodes / RecordedTeam::kBatch));
      for (const std::uint32_t me : {0U, size - 1}) {
        EXPECT_EQ(team.thread(me, size).imbalance.count() + losses.left_out, episodes)
            << size << " threads, thread " << me;
      }
    }
  }
}

TEST_P(TeamThatWaits, GoesOnInTheNextRegion) {
  ToldTeam team(3, 1, GetParam());
  for (int region = 0; region < 500; ++region) {
    team.begin();
    team.cross(one_after_the_other);
    team.end();
  }
  EXPECT_EQ(team.losses().incomplete, 0U);
  EXPECT_EQ(team.span().count() + team.losses().left_out, 500U);
}

TEST_P(TeamThatWaits, RecordsARegionWithFewerThreadsThanWereAskedFor) {
  ToldTeam team(4, 1, GetParam());
  for (const std::uint32_t size : {2U, 4U, 3U}) {
    team.begin(size);
    for (int i = 0; i < 10; ++i) team.cross(one_after_the_other);
    team.end();
    EXPECT_EQ(team.thread(1, size).imbalance.count(), 10U);
  }
  EXPECT_EQ(team.losses().incomplete, 0U);
}

TEST_P(TeamThatWaits, DropsBarriersThatNotAllTookPartInAndRecovers) {
  ToldTeam team(3, 1, GetParam());
  team.begin();
  for (int i = 0; i < 5; ++i) team.cross(one_after_the_other);
  team.cross(one_after_the_other, /*absent=*/1);
  team.end();
  team.begin();
  for (int i = 0; i < 5; ++i) team.cross(one_after_the_other);
  EXPECT_EQ(team.losses().incomplete, 1U);
  EXPECT_EQ(team.span().count(), 10U);
}

std::string name_of(const testing::TestParamInfo<Waits>& waits) {
  if (waits.param == Waits::kSome) return "Some";
  return waits.param == Waits::kAll ? "All" : "None";
}
INSTANTIATE_TEST_SUITE_P(Waits, TeamThatWaits,
                         testing::Values(Waits::kNone, Waits::kAll, Waits::kSome), name_of);
TEST(RecordedTeam, RecordsOneBarrierInSoMany) {
  ToldTeam team(2, /*every=*/64);
  team.begin();
  for (int i = 0; i < 64 * 300; ++i) team.cross(one_after_the_other);
  EXPECT_EQ(team.span().count(), 300U);
  EXPECT_EQ(team.losses().left_out, 0U);
}

TEST(RecordedTeam, TellsThatClocksDiffer) {
  ToldTeam team(2);
  team.begin();
  team.cross(
      [](std::uint32_t i) { return Stay{.arrived = i == 0 ? 100U : 500U, .released = 400U}; });
  EXPECT_EQ(team.losses().backwards, 1U);
  EXPECT_EQ(team.span().sum_ns(), 0U);
}

// What the tool does when libomp stamps a barrier.
struct StampAndWork : NoTrace {
  static constexpr bool kUsesWaits = true;
  RecordedTeam& team;
  RecordedTeam::Participant& own;
  Phases& phases;
  StampAndWork(RecordedTeam& of, RecordedTeam::Participant& me, Phases& into)
      : team(of), own(me), phases(into) {}
  void gathered() const noexcept { phases.gathered = read_system_ns(); }
  void waiting() const noexcept { team.use_wait(own); }
  void released() const noexcept { phases.released = read_system_ns(); }
};

void expect_all_added_up(const test::TestPlan& plan, std::uint64_t episodes) {
  const TraceClock clock = TraceClock::system();
  test::ThreadTrial<test::EngineSubject> trial(plan, WaitPolicy{.spin_polls = 20});
  const hierbar_plan& view = trial.plan();
  const std::uint32_t size = view.num_participants;
  std::vector<std::uint32_t> parents(size);
  for (std::uint32_t i = 0; i < size; ++i) parents[i] = view.nodes[i].parent;
  RecordedTeam team(size, 1, clock);
  team.begin_region();
  team.add_shape(std::make_unique<Shape>(1, parents));
  trial.run([&](test::ThreadMem& mem, std::uint32_t me) {
    RecordedTeam::Participant& own = team.enter(me, size);
    for (std::uint64_t i = 0; i < episodes; ++i) {
      Record& record = team.open(own, &kCode, kKind);
      record.phases.arrived = read_system_ns();
      record.done = record.phases.arrived;
      trial.barrier().cross(mem, me, 0, StampAndWork(team, own, record.phases));
      record.phases.shape = 1;
      team.catch_up(own);
    }
  });
  team.flush();
  std::uint64_t spans = 0, with_levels = 0, left_out = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const RecordedTeam::Tables& tables = *team.tables(i);
    EXPECT_EQ(tables.losses.incomplete, 0U);
    EXPECT_EQ(tables.losses.backwards, 0U);
    left_out += tables.losses.left_out;
    tables.barriers.for_each([&](const Site&, const BarrierTimes& times) {
      spans += times.span.count();
      EXPECT_TRUE(times.levels->adds_up());
      with_levels += times.levels->exchange.count();
    });
  }
  EXPECT_EQ(spans + left_out, episodes);
  EXPECT_EQ(with_levels, spans);
  for (std::uint32_t i = 0; i < size; ++i) {
    team.tables(i)->threads.for_each([&](const Site&, const ThreadTimes& times) {
      EXPECT_EQ(times.imbalance.count(), spans) << "thread " << i;
      EXPECT_EQ(times.sync.count(), spans) << "thread " << i;
    });
  }
}

TEST(RecordedTeam, AddsUpWhatThreadsDidAtOnce) {
  for (const std::uint32_t size : {2U, 3U, 8U, 9U})
    expect_all_added_up(test::make_flat(size), 3000);
  expect_all_added_up(test::make_forest("tree", {{3, 2}, 2, HIERBAR_RELEASE_LINES}), 1000);
}

}  // namespace
}  // namespace hierbar::report
