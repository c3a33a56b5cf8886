// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "barrier/algorithm.hpp"
#include "barrier/thread_host.hpp"
#include "plan/shape.hpp"
#include "tune/ping_pong.hpp"

namespace hierbar {

// What a team crosses: a barrier algorithm over a plan.
struct Contestant {
  Algorithm algorithm = Algorithm::kHier;
  EnginePlan plan;
};

// A team of threads, each bound to its cpu, that crosses the production barriers of several
// contestants in turn. So all contestants are measured by the same threads at about the same time.
// Participant 0 is the thread that constructs the team and calls it.
class CrossingTeam {
 public:
  // Makes a thread for each entry of `cpus` but the first, which is the caller's. Every plan must
  // have as many participants as there are cpus. If a cpu has several threads, no thread spins.
  // Throws std::system_error if the threads cannot be made, and std::bad_alloc.
  CrossingTeam(std::vector<std::uint32_t> cpus, std::vector<Contestant> contestants);
  ~CrossingTeam();
  CrossingTeam(const CrossingTeam&) = delete;
  CrossingTeam& operator=(const CrossingTeam&) = delete;

  // The period in ns, from one barrier to the next without work in between. It is the mean of one
  // batch of about `kBatch_ns`, which has one barrier at least.
  double period_ns(std::size_t contestant);

 private:
  static constexpr double kBatch_ns = 1e6;
  using Mem = RealMem<ThreadHost>;

  struct Course;  // a contestant and its barrier's memory

  void take_part(std::uint32_t me);
  void start(std::size_t contestant, std::uint64_t num_crossings);
  void stop();
  double time_batch(std::size_t contestant, std::uint64_t num_crossings);

  const std::vector<std::uint32_t> cpus_;
  WaitPolicy policy_ = WaitPolicy::of_threads();
  AbortFlag aborted_{0};
  std::vector<ParkingSpot> spots_;
  std::deque<ThreadHost> hosts_;
  std::vector<std::unique_ptr<Course>> courses_;  // the last one starts the batches of the others
  // The next batch. Participant 0 writes these members before a crossing of the last course; the
  // others read them after it.
  std::size_t contestant_ = 0;
  std::uint64_t num_crossings_ = 0;  // 0: the threads end
  std::vector<std::thread> threads_;
};

// Measures the barriers of one team, for each of several plans.
class TeamMeter {
 public:
  virtual ~TeamMeter() = default;
  // The period of a plan in ns: from one barrier to the next, without work in between, over one
  // short batch.
  virtual double period_ns(std::size_t plan) = 0;
};

// The measurements that tuning needs. It is an interface because tests tune machines on which they
// do not run.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual double pause_ns() = 0;
  virtual OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) = 0;
  // Participant i runs on cpus[i]. Every plan has as many participants as there are cpus.
  virtual std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus,
                                          const std::vector<EnginePlan>& plans) = 0;
};

// A meter with threads of this machine. Its functions throw std::system_error if the threads cannot
// be made, and std::bad_alloc.
std::unique_ptr<Meter> make_thread_meter();

}  // namespace hierbar
