// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
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
      if (order.delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(order.delay_us));
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

}  // namespace fuzzer
