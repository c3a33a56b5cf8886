// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace fuzzer {

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
