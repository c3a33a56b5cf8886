// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/libomp/programs/check.hpp"

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

// A thread that is held up between two chosen instructions.

namespace omp_test {

#ifdef __x86_64__
inline constexpr bool kCanStep = true;
inline constexpr long long kTrapFlag = 0x100;

inline std::atomic<bool> stepping{
    false};  // written by the thread that steps, read by the handler in it
inline std::atomic<int> steps_left{0};      // until the hold-up; the same thread's
inline std::atomic<bool> held_up{false};    // by the handler, for the other threads
inline std::atomic<bool> may_go_on{false};  // by the other threads, for the handler

// Runs between each two instructions of a thread that steps.
inline void after_instruction(int, siginfo_t*, void* context) {
  if (!stepping) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    return;
  }
  if (--steps_left != 0) return;
  held_up = true;
  // Not longer: the others may need the lock that this thread has just taken.
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
       !may_go_on && std::chrono::steady_clock::now() < end;)
    continue;
}

inline void set_up_stepping() {
  struct sigaction action = {};
  action.sa_sigaction = after_instruction;
  action.sa_flags = SA_SIGINFO;
  CHECK_EQUAL(sigaction(SIGTRAP, &action, nullptr), 0);
}

// Calls body() and holds it up after that many instructions. Returns whether it had as many.
template <class Body>
bool hold_up_after(int num_instructions, Body&& body) {
  held_up = false;
  may_go_on = false;
  steps_left = num_instructions;
  stepping = true;
  __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(kTrapFlag) : "cc", "memory");
  body();
  stepping = false;
  return steps_left <= 0;
}

// Fulfils event after event in a thread that is no thread of the team, and is held up at each of
// its instructions in turn: in the first event's at the first one, in the next one's at the second
// one.
class SteppingFulfiller {
 public:
  SteppingFulfiller() : thread_([this] { fulfil_all(); }) {}
  ~SteppingFulfiller() { thread_.join(); }
  SteppingFulfiller(const SteppingFulfiller&) = delete;
  SteppingFulfiller& operator=(const SteppingFulfiller&) = delete;

  // For the team. Returns when the thread is held up or past the call.
  void fulfil(omp_event_handle_t event) {
    held_up = false;
    event_ = event;
    given_ = true;
    while (!held_up) std::this_thread::yield();
  }
  void release_and_await() {
    may_go_on = true;
    while (!left_) std::this_thread::yield();
    left_ = false;
  }
  bool is_at_the_end() const { return at_the_end_; }
  int num_held_up() const { return num_held_up_; }

 private:
  void fulfil_all() {
    while (!at_the_end_) {
      if (!given_.exchange(false)) {
        std::this_thread::yield();
        continue;
      }
      at_the_end_ = !hold_up_after(num_held_up_ + 1, [this] { omp_fulfill_event(event_); });
      ++num_held_up_;
      held_up = true;
      left_ = true;
    }
  }

  // Written before given_ is set, and read after it was found set.
  omp_event_handle_t event_{};
  std::atomic<bool> given_{false};  // by the team, for the thread
  std::atomic<bool> left_{false};   // by the thread, for the team: it is past the call
  std::atomic<bool> at_the_end_{
      false};  // by the thread, for the team: the call had no more instructions
  std::atomic<int> num_held_up_{0};
  std::thread thread_;
};
#else
inline constexpr bool kCanStep = false;
#endif

}  // namespace omp_test
