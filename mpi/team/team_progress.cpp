// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/team_progress.hpp"

#include <sched.h>

#include "mpi/library/progress.hpp"

namespace hierbar::mpi {
namespace {

// One for the process: with two callers, the second would wait for the MPI library's own lock.
alignas(128) std::atomic<bool> is_locked{false};

}  // namespace

bool TeamProgress::try_lock() noexcept {
  return !is_locked.load(std::memory_order_relaxed) && !is_locked.exchange(true, std::memory_order_seq_cst);  // (G3)
}
void TeamProgress::take_lock() noexcept {
  while (!try_lock()) sched_yield();
}
void TeamProgress::release_lock() noexcept { is_locked.store(false, std::memory_order_release); }  // (G5)

void TeamProgress::poke(std::uint32_t thread, std::uint64_t episode) noexcept {
  if (callers_ == Callers::kThread0) {
    if (thread == 0) make_progress();
    return;
  }
  if (callers_ == Callers::kInTurn && num_come_.load(std::memory_order_acquire) < episode * num_threads_) return;  // (G2)
  if (!try_lock()) return;
  if (callers_ == Callers::kAny || closed_.load(std::memory_order_seq_cst) < episode) make_progress();  // (G3)
  release_lock();
}

void TeamProgress::close(std::uint64_t episode) noexcept {
  // Nobody can leave the next episode before all have left this one.
  if (closed_.load(std::memory_order_seq_cst) < episode) closed_.store(episode, std::memory_order_seq_cst);  // (G4)
  while (is_locked.load(std::memory_order_seq_cst)) sched_yield();                                           // (G4)
}

}  // namespace hierbar::mpi
