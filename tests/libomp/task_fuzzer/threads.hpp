// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ledger.hpp"

namespace fuzzer {

// Threads that libomp does not know, which fulfil events.
class ForeignThreads {
 public:
  ForeignThreads() {
    for (int i = 0; i < kNumThreads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~ForeignThreads() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  ForeignThreads(const ForeignThreads&) = delete;
  ForeignThreads& operator=(const ForeignThreads&) = delete;

  void fulfil(omp_event_handle_t event, Record& record, int delay_us) {
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back({event, &record, delay_us});
    }
    changed_.notify_one();
  }

 private:
  static constexpr int kNumThreads = 2;

  struct Order {
    omp_event_handle_t event;
    Record* record;
    int delay_us;
  };

  void run() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return stop_ || !orders_.empty(); });
      if (orders_.empty()) return;
      const Order order = orders_.front();
      orders_.pop_front();
      lock.unlock();
      if (order.delay_us > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(order.delay_us));
      order.record->complete_part();
      omp_fulfill_event(order.event);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

inline ForeignThreads* foreign_threads = nullptr;

// Threads that stay until the process ends, since libomp writes to the memory of roots that have
// ended (see runtime/libomp/UPSTREAM.md).
class RootThreads {
 public:
  RootThreads() = default;
  RootThreads(const RootThreads&) = delete;
  RootThreads& operator=(const RootThreads&) = delete;

  // Runs each job, the first of them in the calling thread, and returns when all have ended.
  void run(const std::vector<std::function<void()>>& jobs) {
    while (jobs.size() > workers_.size() + 1) {
      workers_.push_back(new Worker);
      std::thread([worker = workers_.back()] { worker->work(); }).detach();
    }
    for (std::size_t i = 1; i < jobs.size(); ++i) workers_[i - 1]->begin(jobs[i]);
    jobs[0]();
    for (std::size_t i = 1; i < jobs.size(); ++i) workers_[i - 1]->wait();
  }

 private:
  // Never deleted: its thread waits in it until the process ends.
  class Worker {
   public:
    void begin(const std::function<void()>& job) {
      job_.store(&job);
      job_.notify_all();
    }
    void wait() {
      while (const auto* job = job_.load()) job_.wait(job);
    }
    void work() {
      for (;;) {
        job_.wait(nullptr);
        (*job_.load())();
        job_.store(nullptr);
        job_.notify_all();
      }
    }

   private:
    std::atomic<const std::function<void()>*> job_{nullptr};  // null when there is none
  };

  std::vector<Worker*> workers_;
};

}  // namespace fuzzer
