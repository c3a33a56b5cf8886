// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace omp_test {

// Fulfils an event after a moment, in a thread that libomp does not know.
class LateFulfilment {
 public:
  explicit LateFulfilment(omp_event_handle_t event) {
    thread_ = std::thread([this, event] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      is_done_ = true;
      omp_fulfill_event(event);
      is_over_ = true;
    });
  }
  ~LateFulfilment() { thread_.join(); }
  LateFulfilment(const LateFulfilment&) = delete;
  LateFulfilment& operator=(const LateFulfilment&) = delete;

  // Set before the event is fulfilled, so whoever was let go by that sees it.
  bool is_done() const { return is_done_; }
  // Waits until the event has been fulfilled.
  void await() const {
    while (!is_over_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> is_done_{false};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace omp_test
