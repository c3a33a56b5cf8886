// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/floors/spin_decode.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>

#include "base/arch/pause.hpp"
#include "base/bound_thread.hpp"

namespace hierbar::bench {
namespace {

// One counter of arrivals and one of barriers that have ended, as in ggml. A thread counts itself.
// The last one resets the first counter and increments the second, for which the others poll. They
// never yield or sleep, so each needs a cpu for itself.
//
// Orders:
//   (1) load of ended_      reads what this thread saw in its last crossing; nobody can write it
//                           before this thread has arrived
//   (2) fetch_add           acq_rel; each pairs with the earlier (2) of the others, so the last one
//                           has seen what all did before they arrived
//   (3) reset of arrived_   published by (4); the next (2) of another thread follows its (5)
//   (4) fetch_add           release; pairs with (5)
//   (5) load of ended_      acquire; pairs with (4)
class SpinBarrier {
 public:
  explicit SpinBarrier(int num_threads) : num_threads_(num_threads) {}

  void cross() {
    const int ended = ended_.load(std::memory_order_relaxed);                    // (1)
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == num_threads_) {  // (2)
      arrived_.store(0, std::memory_order_relaxed);                              // (3)
      ended_.fetch_add(1, std::memory_order_release);                            // (4)
      return;
    }
    while (ended_.load(std::memory_order_acquire) == ended) cpu_pause();  // (5)
  }

 private:
  const int num_threads_;
  alignas(128) std::atomic<int> arrived_{0};  // written by all
  alignas(128) std::atomic<int> ended_{0};    // written by the last one, read by all
};

// Threads that run graphs together. Thread 0 is the caller.
class SpinTeam {
 public:
  SpinTeam(const std::vector<int>& cpus, const DecodeGraph& graph)
      : num_threads_(static_cast<int>(cpus.size())),
        operations_(operation_lines(graph)),
        parts_(cpus.size()),
        cpu_ns_(cpus.size()),
        barrier_(num_threads_) {
    begin(0, cpus);
    for (int thread = 1; thread < num_threads_; ++thread) {
      others_.emplace_back([this, thread, cpus] {
        begin(thread, cpus);
        while (next_job()) run(thread);
      });
    }
  }
  ~SpinTeam() {
    start(Job::kEnd);
    for (std::thread& other : others_) other.join();
  }
  SpinTeam(const SpinTeam&) = delete;
  SpinTeam& operator=(const SpinTeam&) = delete;

  double time_graph() {
    const double start_ns = now_ns();
    start(Job::kGraph);
    run(0);
    return now_ns() - start_ns;
  }
  // All threads work at the same time, because the cpus' clock depends on it.
  double time_ideal() {
    start(Job::kAlone);
    run(0);
    return std::accumulate(cpu_ns_.begin(), cpu_ns_.end(), 0.0) / num_threads_;
  }

 private:
  enum class Job : std::uint8_t { kGraph, kAlone, kEnd };

  void begin(int thread, const std::vector<int>& cpus) {
    const auto index = static_cast<std::size_t>(thread);
    bind_this_thread(static_cast<std::uint32_t>(cpus[index]));  // else only precision is lost
    parts_[index] = std::make_unique<DecodePart>(operations_, thread, num_threads_);
  }

  // The barrier orders the job, which is plain.
  void start(Job job) {
    job_ = job;
    barrier_.cross();
  }
  bool next_job() {
    barrier_.cross();
    return job_ != Job::kEnd;
  }

  void run(int thread) {
    const auto index = static_cast<std::size_t>(thread);
    DecodePart& part = *parts_[index];
    if (job_ == Job::kAlone) {
      cpu_ns_[index] = part.cpu_ns_alone();
      barrier_.cross();
      return;
    }
    for (std::size_t i = 0; i < part.num_operations(); ++i) {
      part.operate(i);
      barrier_.cross();
    }
  }

  const int num_threads_;
  const std::vector<long> operations_;
  std::vector<std::unique_ptr<DecodePart>> parts_;
  std::vector<double> cpu_ns_;
  SpinBarrier barrier_;
  Job job_ = Job::kEnd;  // written by thread 0 in front of a barrier
  std::vector<std::thread> others_;
};

}  // namespace

DecodeSamples measure_spin_decode(const std::vector<int>& cpus, std::chrono::nanoseconds budget,
                                  const DecodeGraph& graph) {
  SpinTeam team(cpus, graph);
  return measure_decode(
      static_cast<double>(budget.count()), [&team] { return team.time_graph(); },
      [&team] { return team.time_ideal(); });
}

}  // namespace hierbar::bench
