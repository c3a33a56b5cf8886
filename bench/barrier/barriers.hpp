// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrier/algorithm.hpp"
#include "barrier/thread_host.hpp"
#include "base/membarrier.hpp"
#include "plan/shape.hpp"

// The measured barriers. All have a constructor (participants, cpus, ...) and cross(participant).
namespace hierbar::bench {

using Mem = RealMem<ThreadHost>;

// Zero pages that nobody has touched. The kernel allocates each one near the participant that
// writes it first.
class FreshPages {
 public:
  explicit FreshPages(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        memory_(
            mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~FreshPages() { munmap(memory_, size_bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  void* get() const { return memory_; }

 private:
  std::size_t size_bytes_;
  void* memory_;
};

// One of the project's algorithms; B is its class. Threads do not spin if they outnumber the cpus,
// and all threads may sleep.
template <class B>
class AlgorithmBarrier {
 public:
  AlgorithmBarrier(std::uint32_t num_participants, std::size_t num_cpus, EnginePlan plan)
      : plan_(std::move(plan)),
        view_(plan_.view()),
        memory_(B::size_bytes(view_)),
        barrier_(make(view_, memory_.get(), num_participants <= num_cpus)),
        spots_(num_participants) {
    if (num_participants > num_cpus) policy_ = policy_.outnumbered();
    policy_.pauses_per_poll = measure_pauses_per_poll();
    for (std::uint32_t p = 0; p < num_participants; ++p)
      hosts_.emplace_back(spots_.data(), p, policy_, aborted_);
  }

  void cross(std::uint32_t me) noexcept {
    Mem mem(hosts_[me]);
    static_cast<void>(hierbar::cross(barrier_, mem, me));  // nobody aborts
  }

 private:
  // As the C API makes it: sleepers of the engine fence for the writers where they may.
  static B make(const hierbar_plan& plan, void* memory, [[maybe_unused]] bool sleeps_are_rare) {
    if constexpr (std::is_constructible_v<B, const hierbar_plan&, void*, Fencing>) {
      return B(plan, memory,
               sleeps_are_rare && can_fence_threads() ? Fencing::kBySleepers : Fencing::kByWriters);
    } else {
      return B(plan, memory);
    }
  }

  const EnginePlan plan_;
  const hierbar_plan view_;
  const FreshPages memory_;
  const B barrier_;
  WaitPolicy policy_ = WaitPolicy::of_threads();
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
  PthreadBarrier(std::uint32_t num_participants, std::size_t) {
    pthread_barrier_init(&barrier_, nullptr, num_participants);
  }
  ~PthreadBarrier() { pthread_barrier_destroy(&barrier_); }
  PthreadBarrier(const PthreadBarrier&) = delete;
  PthreadBarrier& operator=(const PthreadBarrier&) = delete;
  void cross(std::uint32_t) { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace hierbar::bench
