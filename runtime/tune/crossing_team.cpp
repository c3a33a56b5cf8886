// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/crossing_team.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <utility>

#include "base/arch/pause.hpp"
#include "base/bound_thread.hpp"

namespace hierbar {

struct CrossingTeam::Course {
  explicit Course(Contestant of)
      : contestant(std::move(of)),
        plan(contestant.plan.view()),
        size_bytes(barrier_size_bytes<Mem>(contestant.algorithm, plan)),
        // Zero pages that nobody has touched. The kernel allocates each one near the participant
        // that writes it first.
        memory(
            mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory == MAP_FAILED) throw std::bad_alloc();
  }
  ~Course() { munmap(memory, size_bytes); }
  Course(const Course&) = delete;
  Course& operator=(const Course&) = delete;

  // False if the team was aborted.
  bool cross(Mem& mem, std::uint32_t me, std::uint64_t times) const {
    return visit_algorithm<Mem>(contestant.algorithm, [&](auto type) {
      const typename decltype(type)::type barrier(plan, memory);
      for (std::uint64_t i = 0; i < times; ++i) {
        if (hierbar::cross(barrier, mem, me) == WaitResult::kAborted) return false;
      }
      return true;
    });
  }

  const Contestant contestant;
  const hierbar_plan plan;
  const std::size_t size_bytes;
  void* const memory;
  static constexpr double kUnknown = 1e300;
  double shortest_ns = kUnknown;  // the shortest period of all batches so far
};

CrossingTeam::CrossingTeam(std::vector<std::uint32_t> cpus, std::vector<Contestant> contestants)
    : cpus_(std::move(cpus)), spots_(cpus_.size()) {
  const auto num_participants = static_cast<std::uint32_t>(cpus_.size());
  if (std::set<std::uint32_t>(cpus_.begin(), cpus_.end()).size() < cpus_.size())
    policy_.spin_polls = 0;
  policy_.pauses_per_poll = measure_pauses_per_poll();
  for (std::uint32_t me = 0; me < num_participants; ++me)
    hosts_.emplace_back(spots_.data(), me, policy_, aborted_);
  const EnginePlan of_first = contestants.front().plan;
  for (Contestant& contestant : contestants)
    courses_.push_back(std::make_unique<Course>(std::move(contestant)));
  courses_.push_back(std::make_unique<Course>(Contestant{Algorithm::kHier, of_first}));
  try {
    for (std::uint32_t me = 1; me < num_participants; ++me)
      threads_.emplace_back(&CrossingTeam::take_part, this, me);
  } catch (...) {
    // The threads that exist wait for those that could not be made. (X1) of thread_host.hpp; pairs
    // with (X2) and (X3) in their waits. A sleeper needs no wake-up: it reads the flag every 50 ms.
    aborted_.store(1, std::memory_order_seq_cst);
    stop();
    throw;
  }
}

CrossingTeam::~CrossingTeam() {
  start(0, 0);
  stop();
}

void CrossingTeam::stop() {
  for (std::thread& thread : threads_) thread.join();
}

void CrossingTeam::take_part(std::uint32_t me) {
  const BoundThread here(cpus_[me]);
  Mem mem(hosts_[me]);
  while (courses_.back()->cross(mem, me, 1) && num_crossings_ != 0) {
    courses_[contestant_]->cross(mem, me, num_crossings_);
  }
}

// Participant 0's part of the crossing that starts a batch.
void CrossingTeam::start(std::size_t contestant, std::uint64_t num_crossings) {
  contestant_ = contestant;
  num_crossings_ = num_crossings;
  Mem mem(hosts_[0]);
  courses_.back()->cross(mem, 0, 1);
}

double CrossingTeam::time_batch(std::size_t contestant, std::uint64_t num_crossings) {
  using Clock = std::chrono::steady_clock;
  const BoundThread here(cpus_[0]);
  start(contestant, num_crossings + 1);
  Mem mem(hosts_[0]);
  const Course& course = *courses_[contestant];
  course.cross(mem, 0, 1);  // the clock starts when all participants have come
  const Clock::time_point begin = Clock::now();
  course.cross(mem, 0, num_crossings);
  const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
  return elapsed.count() / static_cast<double>(num_crossings);
}

// The shortest period so far decides the number of crossings in the next batch. If the last period
// decided, one batch in which a thread lost its cpu would make the next batches so small that their
// start would dominate them.
double CrossingTeam::period_ns(std::size_t contestant) {
  Course& course = *courses_[contestant];
  const auto time = [&](std::uint64_t num_crossings) {
    const double ns = time_batch(contestant, num_crossings);
    course.shortest_ns = std::min(course.shortest_ns, ns);
    return ns;
  };
  if (course.shortest_ns == Course::kUnknown) {
    for (std::uint64_t trial = 1; trial <= 4096; trial *= 8) {
      // After a long trial on a busy machine there is no longer one.
      const double trial_ns = time(trial) * static_cast<double>(trial);
      if (course.shortest_ns * static_cast<double>(trial) > kBatch_ns / 4 ||
          trial_ns > 10 * kBatch_ns)
        break;
    }
  }
  return time(
      static_cast<std::uint64_t>(std::max(1.0, kBatch_ns / std::max(1.0, course.shortest_ns))));
}

namespace {

class ThreadTeamMeter : public TeamMeter {
 public:
  ThreadTeamMeter(const std::vector<std::uint32_t>& cpus, std::vector<Contestant> contestants)
      : team_(cpus, std::move(contestants)) {}
  double period_ns(std::size_t plan) override { return team_.period_ns(plan); }

 private:
  CrossingTeam team_;
};

class ThreadMeter : public Meter {
 public:
  double pause_ns() override { return measure_pause_ns(); }
  OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) override {
    return measure_one_way(cpu, other_cpu);
  }
  std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus,
                                  const std::vector<EnginePlan>& plans) override {
    std::vector<Contestant> contestants;
    for (const EnginePlan& plan : plans) contestants.push_back({Algorithm::kHier, plan});
    return std::make_unique<ThreadTeamMeter>(cpus, std::move(contestants));
  }
};

}  // namespace

std::unique_ptr<Meter> make_thread_meter() { return std::make_unique<ThreadMeter>(); }

}  // namespace hierbar
