// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/model/region/team_memory.hpp"

namespace hierbar::bench::model {

// Fork and join by the patterns of unmodified libomp (kmp_barrier.cpp of LLVM 19 to 22): which
// thread writes and reads which line, and in which order. Written for the model; prefetches and all
// work of a thread alone are left out.
//
// Every pattern has the same two functions, which all threads of the team call in turns:
//   release()  The fork. Thread 0 hands out `payload`; the others wait, and get it. False: aborted.
//   gather()   The join. Thread 0 waits for all.
// What a team executes is in the team's own line, which thread 0 writes if it has changed.

// The branch bits of `hyper` and `tree`, for fork and join: libomp's default.
inline constexpr std::uint32_t kBranchBits = 2;
inline constexpr std::uint32_t kBranchFactor = 1U << kBranchBits;

template <class Mem>
class StockPattern {
 public:
  using Word = typename Mem::Word;
  explicit StockPattern(const SimulatedTeam<Mem>& team) : team_(team) {}

 protected:
  // As KMP_CHECK_UPDATE.
  static void update(Mem& mem, Word& word, std::uint64_t value) {
    if (mem.load_relaxed(word) != value) mem.store_relaxed(word, value);
  }
  void set_function(Mem& mem, const Payload& payload) const {
    update(mem, team_.lines.function.function, payload.function);
    update(mem, team_.lines.function.argument, payload.argument);
  }
  Payload function(Mem& mem) const {
    return {mem.load_relaxed(team_.lines.function.function), mem.load_relaxed(team_.lines.function.argument)};
  }

  // kmp_flag_64::release(). It reads the word again, to see whether the waiter sleeps.
  static void hand_over(Mem& mem, Word& word) {
    mem.fetch_add(word, kStateBump);
    mem.load_acquire(word);
  }
  // A worker waits for its b_go and resets it.
  bool await_go(Mem& mem, std::uint32_t me) const {
    Word& go = team_.threads[me].release.go;
    if (!await_value(mem, go, kStateBump)) return false;
    mem.store_relaxed(go, 0);
    return true;
  }

  std::uint64_t next_arrived(Mem& mem) const { return mem.load_relaxed(team_.lines.arrived.word) + kStateBump; }
  bool await_child(Mem& mem, std::uint32_t child, std::uint64_t arrived) const {
    return await_value(mem, team_.threads[child].arrived.word, arrived);
  }
  // The last step of a join: workers report to their parent, thread 0 counts for the team.
  void finish_gather(Mem& mem, std::uint32_t me, std::uint64_t arrived) const {
    if (me == 0) {
      mem.store_relaxed(team_.lines.arrived.word, arrived);
    } else {
      hand_over(mem, team_.threads[me].arrived.word);
    }
  }
  // The first step of a join: the blocktime is in the own implicit task.
  void read_blocktime(Mem& mem, std::uint32_t me) const { mem.load_relaxed(team_.threads[me].task.word); }

  SimulatedTeam<Mem> team_;
};

// Thread 0 initialises the implicit tasks of all and releases all.
template <class Mem>
class LinearPattern : StockPattern<Mem> {
  using Base = StockPattern<Mem>;

 public:
  using Base::Base;

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    if (me != 0) {
      if (!this->await_go(mem, me)) return false;
      payload = this->function(mem);
      return true;
    }
    this->set_function(mem, payload);
    for (std::uint32_t i = 1; i < this->team_.num_threads; ++i) mem.store_relaxed(this->team_.threads[i].task.word, 1);
    for (std::uint32_t i = 1; i < this->team_.num_threads; ++i) Base::hand_over(mem, this->team_.threads[i].release.go);
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    this->read_blocktime(mem, me);
    const std::uint64_t arrived = me == 0 ? this->next_arrived(mem) : 0;
    for (std::uint32_t i = 1; me == 0 && i < this->team_.num_threads; ++i) {
      if (!this->await_child(mem, i, arrived)) return false;
    }
    this->finish_gather(mem, me, arrived);
    return true;
  }
};

// A tree of branch factor four by number; parents initialise their children's implicit tasks.
template <class Mem>
class TreePattern : StockPattern<Mem> {
  using Base = StockPattern<Mem>;

 public:
  using Base::Base;

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    if (me == 0) {
      this->set_function(mem, payload);
    } else if (!this->await_go(mem, me)) {
      return false;
    }
    for (std::uint32_t child = first_child(me); child < end_child(me); ++child) {
      mem.store_relaxed(this->team_.threads[child].task.word, 1);
      Base::hand_over(mem, this->team_.threads[child].release.go);
    }
    if (me != 0) payload = this->function(mem);
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    this->read_blocktime(mem, me);
    const bool gathers = first_child(me) < this->team_.num_threads;
    const std::uint64_t arrived = gathers ? this->next_arrived(mem) : 0;
    for (std::uint32_t child = first_child(me); child < end_child(me); ++child) {
      if (!this->await_child(mem, child, arrived)) return false;
    }
    this->finish_gather(mem, me, arrived);
    return true;
  }

 private:
  static std::uint32_t first_child(std::uint32_t me) { return (me << kBranchBits) + 1; }
  std::uint32_t end_child(std::uint32_t me) const { return std::min(first_child(me) + kBranchFactor, this->team_.num_threads); }
};

// A hypercube-embedded tree of branch factor four, which libomp takes by default. ICVs go along in
// the line of b_go, and every thread initialises its own implicit task.
template <class Mem>
class HyperPattern : StockPattern<Mem> {
  using Base = StockPattern<Mem>;

 public:
  using Base::Base;

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    if (me == 0) {
      this->set_function(mem, payload);
      push_icvs(mem, 0);
    } else if (!this->await_go(mem, me)) {
      return false;
    }
    std::uint32_t level = 0;
    while (exists(level) && digit(me, level) == 0) level += kBranchBits;
    while (level != 0) {  // from the farthest children to the nearest
      level -= kBranchBits;
      for (std::uint32_t branch = kBranchFactor - 1; branch >= 1; --branch) {
        const std::uint32_t child = me + (branch << level);
        if (child >= this->team_.num_threads) continue;
        push_icvs(mem, child);
        Base::hand_over(mem, this->team_.threads[child].release.go);
      }
    }
    if (me == 0) return true;
    mem.store_relaxed(this->team_.threads[me].task.word, 1);
    payload = this->function(mem);
    return true;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    this->read_blocktime(mem, me);
    std::uint64_t arrived = 0;
    for (std::uint32_t level = 0; exists(level) && digit(me, level) == 0; level += kBranchBits) {
      if (level == 0) arrived = this->next_arrived(mem);
      for (std::uint32_t branch = 1; branch < kBranchFactor; ++branch) {
        const std::uint32_t child = me + (branch << level);
        if (child < this->team_.num_threads && !this->await_child(mem, child, arrived)) return false;
      }
    }
    this->finish_gather(mem, me, arrived);
    return true;
  }

 private:
  bool exists(std::uint32_t level) const { return (1U << level) < this->team_.num_threads; }
  static std::uint32_t digit(std::uint32_t me, std::uint32_t level) { return me >> level & (kBranchFactor - 1); }
  void push_icvs(Mem& mem, std::uint32_t to) const { mem.store_relaxed(this->team_.threads[to].release.payload[0], 1); }
};

}  // namespace hierbar::bench::model
