// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pthread.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/thread_host.hpp"

// The barriers under measurement, alike to use: a constructor (participants, cpus) and cross(participant).
namespace hierbar::bench {

// The engine, everybody a leader. Threads that outnumber the cpus do not spin; nobody is kept from sleeping.
class EngineBarrier {
 public:
  EngineBarrier(std::uint32_t num_participants, std::size_t num_cpus)
      : nodes_(num_participants), leaders_(num_participants), spots_(num_participants) {
    std::iota(leaders_.begin(), leaders_.end(), 0U);
    for (const std::uint32_t p : leaders_) nodes_[p] = hierbar_plan_node{p, 0, 0, p};
    plan_ = hierbar_plan{HIERBAR_PLAN_ABI_VERSION,
                         num_participants,
                         num_participants,
                         num_participants,
                         HIERBAR_RELEASE_FLAGS,
                         kLineBytes,
                         1,
                         0,
                         nodes_.data(),
                         leaders_.data(),
                         leaders_.data()};
    if (num_participants > num_cpus) policy_.spin_looks = 0;
    lines_ = std::vector<Line>(Lines<Mem::Word>::size_bytes(plan_) / kLineBytes);
    for (const std::uint32_t p : leaders_) hosts_.emplace_back(spots_.data(), p, policy_, aborted_);
  }

  void cross(std::uint32_t me) noexcept {
    Mem mem(hosts_[me]);
    Barrier<Mem>(plan_, lines_.data()).cross(mem, me, 0);
  }

 private:
  using Mem = RealMem<ThreadHost>;
  static constexpr std::uint32_t kLineBytes = 128;
  struct alignas(kLineBytes) Line {
    std::byte bytes[kLineBytes];
  };

  std::vector<hierbar_plan_node> nodes_;
  std::vector<std::uint32_t> leaders_;
  hierbar_plan plan_{};
  std::vector<Line> lines_;
  WaitPolicy policy_;
  std::vector<ParkingSpot> spots_;
  AbortFlag aborted_{0};
  std::deque<ThreadHost> hosts_;
};

class StdBarrier {
 public:
  StdBarrier(std::uint32_t num_participants, std::size_t) : barrier_(num_participants) {}
  void cross(std::uint32_t) { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

class PthreadBarrier {
 public:
  PthreadBarrier(std::uint32_t num_participants, std::size_t) { pthread_barrier_init(&barrier_, nullptr, num_participants); }
  ~PthreadBarrier() { pthread_barrier_destroy(&barrier_); }
  PthreadBarrier(const PthreadBarrier&) = delete;
  PthreadBarrier& operator=(const PthreadBarrier&) = delete;
  void cross(std::uint32_t) { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace hierbar::bench
