// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "barrier/algorithm.hpp"
#include "base/bound_thread.hpp"
#include "base/result.hpp"
#include "bench/common/host.hpp"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench {

// The plans of the measured teams, for the cpus on which Team runs them: the engine's, and for
// `topo` that of the paper's groups. HIERBAR_LEVELS, HIERBAR_RELEASE and HIERBAR_TOPOLOGY are
// obeyed.
class TeamPlans {
 public:
  static Result<TeamPlans> load();

  EnginePlan make(Algorithm algorithm, int num_participants);

  // The levels of the paper's groups, "numa, package". "none" if all participants are in one group.
  std::string levels() const;
  // What was not done as it was asked for, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  TeamPlans() = default;

  Machine machine_;
  PlanSettings settings_;
  PlanLevels levels_;
  std::vector<std::string> notes_;
};

inline const Host& host() {
  static const Host described = describe_host();
  return described;
}

inline std::uint32_t cpu_of(std::uint32_t participant) {
  return static_cast<std::uint32_t>(host().cpus[participant % host().cpus.size()]);
}

// The threads that cross one Barrier, which is made from (participants, cpus, arguments...).
// Participant 0 is the caller. The others are threads that cross as often as it does.
template <class Barrier>
class MeasuredTeam {
 public:
  template <class... Arguments>
  explicit MeasuredTeam(std::uint32_t num_participants, Arguments&&... arguments)
      : barrier_(num_participants, host().cpus.size(), std::forward<Arguments>(arguments)...) {
    for (std::uint32_t me = 1; me < num_participants; ++me) {
      threads_.emplace_back([this, me] {
        bind_this_thread(cpu_of(me));  // if it cannot be had, only precision is lost
        std::uint64_t num_crossings = 0;
        do {
          barrier_.cross(me);
          ++num_crossings;
        } while (num_crossings != last_.load(std::memory_order_relaxed));
      });
    }
    for (int i = 0; i < kWarmUpCrossings; ++i) cross();
  }
  MeasuredTeam(const MeasuredTeam&) = delete;
  MeasuredTeam& operator=(const MeasuredTeam&) = delete;
  ~MeasuredTeam() {
    // Relaxed: the crossing orders it. All threads read it after the crossing that follows. Some
    // may read it one crossing earlier; hence a number and not a flag.
    last_.store(num_crossings_ + 1, std::memory_order_relaxed);
    cross();
    for (std::thread& thread : threads_) thread.join();
  }

  void cross() {
    barrier_.cross(0);
    ++num_crossings_;
  }

 private:
  static constexpr int kWarmUpCrossings = 100;

  const BoundThread caller_{cpu_of(0)};
  Barrier barrier_;
  // Of participant 0, in a line that nobody else reads.
  alignas(128) std::uint64_t num_crossings_ = 0;
  // The number of the last crossing; 0: not known yet. Written by participant 0, read by the
  // others.
  alignas(128) std::atomic<std::uint64_t> last_{0};
  std::vector<std::thread> threads_;
};

}  // namespace hierbar::bench
