// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "loop.hpp"

namespace loop_fuzzer {

inline constexpr int kMaxThreads = 64;

// What the threads of one loop have done, beside what a serial loop would have done.
class Ledger {
 public:
  Ledger(const Loop& loop, const Group& group)
      : loop_(loop),
        group_(group),
        count_(loop.count()),
        visits_(count_),
        tasks_(is_taskloop(loop.construct) ? count_ : 0) {}

  // ---- called by iterations; an `iteration` of count() or more is none of the loop's ----

  void visit(std::uint64_t iteration) {
    if (iteration >= count_) return complain("an iteration that the loop does not have");
    visits_[iteration].fetch_add(1, std::memory_order_relaxed);
    total_.fetch_add(1, std::memory_order_relaxed);
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    if (static_cast<std::int64_t>(iteration) <= last_[thread])
      steps_back_.store(true, std::memory_order_relaxed);
    last_[thread] = static_cast<std::int64_t>(iteration);
    if (loop_.schedule == Schedule::kStaticChunk && !is_taskloop(loop_.construct) &&
        !is_of_thread(iteration, thread))
      complain("a static chunk in a thread that it does not belong to");
  }

  // In an ordered region.
  void visit_in_order(std::uint64_t iteration) {
    if (iteration != num_in_order_++) complain("ordered regions in another order");
    visit(iteration);
  }

  // After the wait for the iteration before this one.
  void visit_after_its_predecessor(std::uint64_t iteration) {
    if (iteration > 0 && iteration < count_ &&
        visits_[iteration - 1].load(std::memory_order_relaxed) == 0)
      complain("an iteration before the one that it depends on");
    visit(iteration);
  }

  // `task` is the task's own variable, at first -1.
  void visit_in_task(std::uint64_t iteration, int& task) {
    if (iteration >= count_) return complain("an iteration that the loop does not have");
    if (task < 0) {
      task = num_tasks_.fetch_add(1, std::memory_order_relaxed);
      if (static_cast<std::uint64_t>(task) >= count_) return complain("more tasks than iterations");
      tasks_[static_cast<std::size_t>(task)].first = iteration;
    }
    Task& own = tasks_[static_cast<std::size_t>(task)];
    if (iteration != own.first + own.size++)
      complain("a task whose iterations do not follow each other");
    visits_[iteration].fetch_add(1, std::memory_order_relaxed);
    total_.fetch_add(1, std::memory_order_relaxed);
  }

  void complain(const char* what) {
    const char* none = nullptr;
    problem_.compare_exchange_strong(none, what);
  }

  // ---- called by each thread behind a construct that all threads wait at the end of ----

  void check_barrier() {
    if (!is_cancelled(loop_.construct) && total_.load(std::memory_order_relaxed) != count_)
      complain("a thread that went on before all iterations were run");
  }

  // ---- called when the team has ended ----

  // What is wrong, or an empty string.
  std::string judge() const {
    if (const char* const problem = problem_.load()) return problem;
    std::string wrong = judge_visits();
    if (wrong.empty() && is_monotonic() && steps_back_.load())
      wrong = "a thread that ran a later iteration first, under a monotonic schedule";
    if (wrong.empty() && loop_.construct == Construct::kReduction &&
        sum != static_cast<long>(count_ * (count_ + 1) / 2))
      wrong = "the reduction is " + std::to_string(sum);
    if (wrong.empty() && loop_.construct == Construct::kOrdered && num_in_order_ != count_)
      wrong = "ordered regions are missing";
    if (wrong.empty() && is_taskloop(loop_.construct) && !is_cancelled(loop_.construct))
      wrong = judge_tasks();
    return wrong;
  }

  long sum = 0;  // kReduction adds up iteration + 1

 private:
  struct alignas(16) Task {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
  };

  bool is_of_thread(std::uint64_t iteration, std::size_t thread) const {
    return iteration / static_cast<std::uint64_t>(loop_.chunk) %
               static_cast<std::uint64_t>(omp_get_num_threads()) ==
           thread;
  }

  std::string judge_visits() const {
    const bool cancels =
        is_cancelled(loop_.construct) && omp_get_cancellation() && loop_.cancel_at < count_;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const int visits = visits_[i].load();
      if (visits == 1 || (visits == 0 && cancels && i != loop_.cancel_at)) continue;
      return "iteration " + std::to_string(i) + " was run " + std::to_string(visits) +
             " times, of all " + std::to_string(total_.load()) + " were run";
    }
    return "";
  }

  bool is_monotonic() const {
    if (is_taskloop(loop_.construct)) return false;
    if (loop_.construct == Construct::kOrdered || loop_.construct == Construct::kDoacross)
      return true;
    switch (loop_.schedule) {
      case Schedule::kStatic:
      case Schedule::kStaticChunk:
      case Schedule::kMonotonicDynamic:
      case Schedule::kMonotonicGuided:
      case Schedule::kMonotonicRuntime:
        return true;
      case Schedule::kRuntime:
        return (group_.runtime_schedule & omp_sched_monotonic) != 0;
      default:
        return false;
    }
  }

  std::string judge_tasks() const {
    const auto num_tasks = static_cast<std::uint64_t>(num_tasks_.load());
    const auto wanted = static_cast<std::uint64_t>(loop_.chunk);
    if (loop_.split == Split::kNumTasks || loop_.split == Split::kNumTasksStrict) {
      return num_tasks == std::min(wanted, count_)
                 ? ""
                 : "there are " + std::to_string(num_tasks) + " tasks";
    }
    for (std::uint64_t i = 0; i < num_tasks; ++i) {
      const Task& task = tasks_[i];
      const bool is_last = task.first + task.size == count_;
      bool fits = true;
      if (loop_.split == Split::kGrainsize)
        fits = task.size >= std::min(wanted, count_) && task.size < 2 * wanted;
      if (loop_.split == Split::kGrainsizeStrict)
        fits = task.size == wanted || (is_last && task.size < wanted);
      if (!fits)
        return "the task from iteration " + std::to_string(task.first) + " on has " +
               std::to_string(task.size);
    }
    return "";
  }

  const Loop& loop_;
  const Group& group_;
  const std::uint64_t count_;
  std::vector<std::atomic<int>> visits_;
  std::vector<Task> tasks_;  // each is written by its own task
  std::atomic<std::uint64_t> total_{0};
  std::atomic<int> num_tasks_{0};
  std::atomic<bool> steps_back_{false};
  std::atomic<const char*> problem_{nullptr};
  std::uint64_t num_in_order_ = 0;  // only ordered regions use it
  std::array<std::int64_t, kMaxThreads> last_ = filled(-1);

  static std::array<std::int64_t, kMaxThreads> filled(std::int64_t value) {
    std::array<std::int64_t, kMaxThreads> all;
    all.fill(value);
    return all;
  }
};

}  // namespace loop_fuzzer
