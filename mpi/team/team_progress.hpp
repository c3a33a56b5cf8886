// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace hierbar::mpi {

// Who of a process's threads may call MPI while they wait in a team's barrier (hierbar/mpi.h says
// why).
enum class Callers : std::uint8_t {
  kThread0,  // FUNNELED, and every team with one thread in this process
  kInTurn,   // SERIALIZED
  kAny,      // MULTIPLE
};

// The calls into MPI of one process's threads in one team.
//
// With kInTurn a call is allowed only while all threads of the process are in the barrier. So each
// counts itself when it comes, and closes the episode before it leaves: the program may call MPI as
// soon as one of them is out.
//
// Memory ordering, of kInTurn.
//   (G1) acq_rel increment when a thread comes; pairs with (G2), the acquire load of whoever wants
//        to call MPI: what the program has called before is over.
//   (G3) seq_cst: the lock is taken, then `closed` is read. (G4) seq_cst: `closed` is written, then
//        the lock is read. Either the caller sees that the episode is closed, or the leaving thread
//        sees the lock taken and waits for its release (G5), which it acquires.
class TeamProgress {
 public:
  TeamProgress(Callers callers, std::uint32_t num_threads) : callers_(callers), num_threads_(num_threads) {}

  // Around each barrier, by every thread of the process. Episodes are counted from 1 on.
  void come() noexcept {
    if (callers_ == Callers::kInTurn) num_come_.fetch_add(1, std::memory_order_acq_rel);  // (G1)
  }
  void leave(std::uint64_t episode) noexcept {
    if (callers_ == Callers::kInTurn) close(episode);
  }

  // Makes MPI progress if this thread may, now.
  void poke(std::uint32_t thread, std::uint64_t episode) noexcept;

  // Runs a meeting of the ranks, in the barrier. With kInTurn nobody else calls MPI meanwhile.
  template <class Meet>
  auto run(Meet&& meet) noexcept {
    if (callers_ != Callers::kInTurn) return meet();
    take_lock();
    const auto result = meet();
    release_lock();
    return result;
  }

 private:
  void close(std::uint64_t episode) noexcept;
  static bool try_lock() noexcept;
  static void take_lock() noexcept;
  static void release_lock() noexcept;

  const Callers callers_;
  const std::uint32_t num_threads_;
  alignas(128) std::atomic<std::uint64_t> num_come_{0};
  alignas(128) std::atomic<std::uint64_t> closed_{0};  // the newest episode that somebody is leaving
};

}  // namespace hierbar::mpi
