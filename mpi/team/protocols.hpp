// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// What the threads of a team do beside the engine's barrier: templates over the memory, TeamMem or
// simulated memory in the tests.
namespace hierbar::mpi {

// Who of a process's threads may call MPI while they wait in a team's barrier (hierbar/mpi.h says
// why).
enum class Callers : std::uint8_t {
  kThread0,  // FUNNELED, and every team with one thread in this process
  kInTurn,   // SERIALIZED
  kAny,      // MULTIPLE
};

// Used with kInTurn only. All zero is the start.
template <class Word>
struct CallerWords {
  alignas(128) Word num_come{};  // how often threads of the process have come to a barrier
  alignas(128) Word closed{};    // the newest episode that somebody is leaving
};

// The calls into MPI of one process's threads in one team.
//
// With kInTurn a call is allowed only while all threads of the process are in the barrier. So each
// counts itself when it comes, and closes the episode before it leaves: the program may call MPI as
// soon as one of them is out. `lock` is one for the process, whatever the team: with two callers,
// the second would wait for the MPI library's own lock.
//
// Every access goes through Mem, which is TeamMem, or simulated memory in the tests. wait(word) is
// called again and again while `word` has not changed as it must.
//
// Memory ordering.
//   (G1) seq_cst increment when a thread comes; pairs with (G2), the acquire load of whoever wants
//        to call MPI: what the program has called before is over.
//   (G3) seq_cst: the lock is taken, then `closed` is read. (G4) seq_cst: `closed` is written, then
//        the lock is read. Either the caller sees that the episode is closed, or the leaving thread
//        sees the lock taken and waits for its release (G5), which it acquires. `closed` is written
//        by an exchange: a store of that order costs as much, and the engine's memory has none.
template <class Mem>
class CallerTurns {
 public:
  using Word = typename Mem::Word;

  CallerTurns(Callers callers, std::uint32_t num_threads, Word& lock,
              CallerWords<Word>& words) noexcept
      : callers_(callers), num_threads_(num_threads), lock_(lock), words_(words) {}

  // Around each barrier, by every thread of the process. Episodes are counted from 1 on.
  void come(const Mem& mem) const noexcept {
    if (callers_ == Callers::kInTurn) mem.fetch_add(words_.num_come, 1);  // (G1)
  }
  template <class Wait>
  void leave(const Mem& mem, std::uint64_t episode, Wait&& wait) const {
    if (callers_ == Callers::kInTurn) close(mem, episode, wait);
  }

  // Runs `call` if this thread may call MPI, now. Waits for nobody.
  template <class Call>
  void try_call(const Mem& mem, std::uint32_t thread, std::uint64_t episode, Call&& call) const {
    if (callers_ == Callers::kThread0) {
      if (thread == 0) call();
      return;
    }
    if (callers_ == Callers::kInTurn) {
      const std::uint64_t num_come = mem.load_acquire(words_.num_come);  // (G2)
      if (num_come < episode * num_threads_) return;
    }
    if (!try_lock(mem)) return;
    if (callers_ == Callers::kAny || mem.load_seq_cst(words_.closed) < episode) call();  // (G3)
    release_lock(mem);
  }

  // Runs a meeting of the ranks, in the barrier. With kInTurn nobody else calls MPI meanwhile.
  template <class Meet, class Wait>
  auto meet(const Mem& mem, Meet&& meet, Wait&& wait) const {
    if (callers_ != Callers::kInTurn) return meet();
    while (!try_lock(mem)) wait(lock_);
    const auto result = meet();
    release_lock(mem);
    return result;
  }

 private:
  // Out of line: most teams never get here.
  template <class Wait>
  [[gnu::noinline]] void close(const Mem& mem, std::uint64_t episode, Wait& wait) const {
    // Nobody can leave the next episode before all have left this one.
    if (mem.load_seq_cst(words_.closed) < episode) mem.exchange(words_.closed, episode);  // (G4)
    while (mem.load_seq_cst(lock_) != 0) wait(lock_);                                     // (G4)
  }

  bool try_lock(const Mem& mem) const noexcept {
    return mem.load_relaxed(lock_) == 0 && mem.exchange(lock_, 1) == 0;  // (G3)
  }
  void release_lock(const Mem& mem) const noexcept { mem.store_release(lock_, 0); }  // (G5)

  const Callers callers_;
  const std::uint32_t num_threads_;
  Word& lock_;
  CallerWords<Word>& words_;
};

// Payload bits of a team's barrier.
inline constexpr std::uint32_t kTeamMeetingFailed = 1;
inline constexpr std::uint32_t kThreadHasJoined = 2;
inline constexpr std::uint32_t kNoDataMemory = 4;

// One thread's part of one episode, step by step:
//
//   1. come     From here on other threads may call MPI for this process.
//   2. cross    The engine's barrier. Returns the OR of all participants' bits.
//   3. renew    If a thread of the node has joined, all of them change the plan. They wait for each
//               other there, so the episode is not closed yet.
//   4. leave    From here on nobody calls MPI for this process.
template <class Mem, class Cross, class Renew, class Wait>
std::uint32_t run_team_episode(const CallerTurns<Mem>& turns, const Mem& mem, std::uint64_t episode,
                               Cross&& cross, Renew&& renew, Wait&& wait) {
  turns.come(mem);
  const std::uint32_t bits = cross();
  if ((bits & kThreadHasJoined) != 0) renew();
  turns.leave(mem, episode, wait);
  return bits;
}

// How the participants of a node replace the plan of their barrier by a new one. Plan number n uses
// memory area n % 2 (TeamLayout).
//
// Requires: all participants run it, between two episodes, when all have arrived in the one before.
// That one orders what they have published about themselves. Participants count plans from 0, the
// first, and `number` is the new plan's.
//
// Guarantees: when a call returns, every participant has taken the plan, and what it has written in
// take_plan() is visible.
//
// Every access goes through Mem, which is TeamMem, or simulated memory in the tests.
//
// Memory ordering.
//   (T1) release store of `published` by participant 0: the plan comes before. Pairs with (T2), the
//        acquire load of everybody else.
//   (T3) seq_cst increment of `cleared`, after the own slot is cleared. Pairs with (T4), an acquire
//        load: who sees the full count sees all slots cleared, and uses the new barrier.
template <class Mem>
class PlanChange {
 public:
  using Word = typename Mem::Word;

  // published: the number of the newest plan; cleared: how many slots were cleared for all plans so
  // far. Both begin at 0.
  PlanChange(Word& published, Word& cleared, std::uint32_t num_participants) noexcept
      : published_(published), cleared_(cleared), num_participants_(num_participants) {}

  // 1. Participant 0 makes the plan and publishes its number.
  // 2. Everybody takes the plan: reads it, and clears its own slot in the plan's area.
  // 3. Everybody waits until all have. wait(word) is called again and again while `word` has not
  //    changed as it must.
  template <class Make, class Take, class Wait>
  void run(const Mem& mem, std::uint32_t me, std::uint64_t number, Make&& make_plan,
           Take&& take_plan, Wait&& wait) const {
    if (me == 0) {
      make_plan();
      mem.store_release(published_, number);  // (T1)
    }
    while (mem.load_acquire(published_) < number) wait(published_);  // (T2)
    take_plan();
    mem.fetch_add(cleared_, 1);  // (T3)
    const std::uint64_t all = number * num_participants_;
    while (mem.load_acquire(cleared_) < all) wait(cleared_);  // (T4)
  }

 private:
  Word& published_;
  Word& cleared_;
  const std::uint32_t num_participants_;
};

}  // namespace hierbar::mpi
