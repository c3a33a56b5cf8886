// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "bench/common/host.hpp"

namespace hierbar::bench {

inline const Host& host() {
  static const Host described = describe_host();
  return described;
}

inline int cpu_of(std::uint32_t participant) { return host().cpus[participant % host().cpus.size()]; }

// Binds the calling thread. If the cpu cannot be had, only precision is lost.
inline void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// The threads that cross one Barrier, which is made from (participants, cpus, arguments...).
// Participant 0 is the caller. The others are threads that cross as often as it does.
template <class Barrier>
class Team {
 public:
  template <class... Arguments>
  explicit Team(std::uint32_t num_participants, Arguments&&... arguments)
      : barrier_(num_participants, host().cpus.size(), std::forward<Arguments>(arguments)...) {
    sched_getaffinity(0, sizeof caller_cpus_, &caller_cpus_);
    bind_to(cpu_of(0));
    for (std::uint32_t me = 1; me < num_participants; ++me) {
      threads_.emplace_back([this, me] {
        bind_to(cpu_of(me));
        std::uint64_t num_crossings = 0;
        do {
          barrier_.cross(me);
          ++num_crossings;
        } while (num_crossings != last_.load(std::memory_order_relaxed));
      });
    }
    for (int i = 0; i < kWarmUpCrossings; ++i) cross();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    // Relaxed: the crossing orders it. All threads read it after the crossing that follows. Some
    // may read it one crossing earlier; hence a number and not a flag.
    last_.store(num_crossings_ + 1, std::memory_order_relaxed);
    cross();
    for (std::thread& thread : threads_) thread.join();
    sched_setaffinity(0, sizeof caller_cpus_, &caller_cpus_);
  }

  void cross() {
    barrier_.cross(0);
    ++num_crossings_;
  }

 private:
  static constexpr int kWarmUpCrossings = 100;

  Barrier barrier_;
  // Of participant 0, in a line that nobody else reads.
  alignas(128) std::uint64_t num_crossings_ = 0;
  // The number of the last crossing; 0: not known yet. Written by participant 0, read by the
  // others.
  alignas(128) std::atomic<std::uint64_t> last_{0};
  std::vector<std::thread> threads_;
  cpu_set_t caller_cpus_{};
};

}  // namespace hierbar::bench
