// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "barrier/awaited_word.hpp"

namespace hierbar::bench::model {

// ---- the memory of a team ----

// libomp's KMP_BARRIER_STATE_BUMP.
inline constexpr std::uint64_t kStateBump = 4;
inline constexpr std::uint32_t kLineBytes = 128;

// A region's function and its first argument.
struct Payload {
  std::uint64_t function = 0;
  std::uint64_t argument = 0;
  bool operator==(const Payload&) const = default;
};

template <class Word>
struct alignas(kLineBytes) OneWord {
  Word word{};
};
template <class Word>
struct alignas(kLineBytes) PayloadLine {
  Word function{};
  Word argument{};
};

// The words of a thread that fork and join use in libomp. Each group has a line of its own, as in
// kmp_info_t and in distributedBarrier.
template <class Word>
struct ThreadLines {
  static constexpr std::uint32_t kNumIterations = 3;  // distributedBarrier::MAX_ITERS

  // th_bar[bs_forkjoin_barrier]: th_fixed_icvs with b_go, and b_arrived.
  struct alignas(kLineBytes) Go {
    Word payload[2]{};  // ICVs, or a lean region's function and argument
    Word go{};
  } release;
  OneWord<Word> arrived;
  OneWord<Word> task;  // its implicit task, which has its ICVs
  // distributedBarrier's arrays.
  OneWord<Word> iteration;
  OneWord<Word> go;
  OneWord<Word> still_needs[kNumIterations];
  OneWord<Word> suspend_mutex;
};

// The lines of a team.
template <class Word>
struct TeamLines {
  OneWord<Word> arrived;       // t_bar[bs_forkjoin_barrier].b_arrived
  PayloadLine<Word> function;  // t_pkfn and t_argv
  OneWord<Word> icvs;          // distributedBarrier::team_icvs
};

// Waits until a word has a value. False: the run has failed.
template <class Mem>
bool await_value(Mem& mem, typename Mem::Word& word, std::uint64_t value) {
  struct {
    Mem& mem;
    typename Mem::Word& word;
    std::uint64_t value;
    bool ready() const { return mem.load_acquire(word) == value; }
    typename Mem::Word& awaited() const { return word; }
  } pending{mem, word, value};
  return mem.wait(pending) == WaitResult::kReleased;
}

// A team of threads as libomp sees it. A view: it refers to the lines.
template <class Mem>
struct SimulatedTeam {
  using Word = typename Mem::Word;

  std::uint32_t num_threads;
  TeamLines<Word>& lines;
  ThreadLines<Word>* threads;  // [num_threads]
};

// ---- fork and join ----

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
    return {mem.load_relaxed(team_.lines.function.function),
            mem.load_relaxed(team_.lines.function.argument)};
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

  std::uint64_t next_arrived(Mem& mem) const {
    return mem.load_relaxed(team_.lines.arrived.word) + kStateBump;
  }
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
  void read_blocktime(Mem& mem, std::uint32_t me) const {
    mem.load_relaxed(team_.threads[me].task.word);
  }

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
    for (std::uint32_t i = 1; i < this->team_.num_threads; ++i)
      mem.store_relaxed(this->team_.threads[i].task.word, 1);
    for (std::uint32_t i = 1; i < this->team_.num_threads; ++i)
      Base::hand_over(mem, this->team_.threads[i].release.go);
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
  std::uint32_t end_child(std::uint32_t me) const {
    return std::min(first_child(me) + kBranchFactor, this->team_.num_threads);
  }
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
        if (child < this->team_.num_threads && !this->await_child(mem, child, arrived))
          return false;
      }
    }
    this->finish_gather(mem, me, arrived);
    return true;
  }

 private:
  bool exists(std::uint32_t level) const { return (1U << level) < this->team_.num_threads; }
  static std::uint32_t digit(std::uint32_t me, std::uint32_t level) {
    return me >> level & (kBranchFactor - 1);
  }
  void push_icvs(Mem& mem, std::uint32_t to) const {
    mem.store_relaxed(this->team_.threads[to].release.payload[0], 1);
  }
};

// How libomp's distributed barrier divides a team (distributedBarrier::computeVarsForN).
struct DistGroups {
  std::uint32_t threads_per_go;  // who wait for the same line
  std::uint32_t num_gos;
  std::uint32_t gos_per_group;
  std::uint32_t threads_per_group;

  DistGroups(std::uint32_t num_threads, std::uint32_t num_packages,
             std::uint32_t cores_per_package) {
    threads_per_go = std::max(1U, cores_per_package / 2);
    num_gos = divided_up(num_threads, threads_per_go);
    const std::uint32_t num_groups =
        num_packages == 1 || num_gos == 1 ? 1 : divided_up(num_gos, num_packages);
    gos_per_group = divided_up(num_gos, num_groups);
    threads_per_group = threads_per_go * gos_per_group;
  }

 private:
  static std::uint32_t divided_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }
};

// libomp's distributed barrier. Leaders look at the flags of their whole group, then at those of
// all leaders; a release is one line for many threads.
template <class Mem>
class DistPattern : StockPattern<Mem> {
  using Base = StockPattern<Mem>;
  static constexpr std::uint32_t kNumIterations = ThreadLines<typename Mem::Word>::kNumIterations;

 public:
  DistPattern(const SimulatedTeam<Mem>& team, const DistGroups& groups)
      : Base(team), groups_(groups) {
    for (std::uint32_t i = 0; i < team.num_threads; ++i) {
      for (auto& flag : team.threads[i].still_needs) flag.word.value = 1;
    }
  }

  bool release(Mem& mem, std::uint32_t me, Payload& payload) const {
    typename Base::Word& iteration = this->team_.threads[me].iteration.word;
    const std::uint64_t current = mem.load_relaxed(iteration);
    const std::uint64_t next_go = current + kNumIterations;
    const bool done =
        me == 0 ? release_all(mem, next_go, payload) : await_release(mem, me, next_go, payload);
    mem.store_relaxed(iteration, (current + 1) % kNumIterations);
    return done;
  }

  bool gather(Mem& mem, std::uint32_t me) const {
    this->read_blocktime(mem, me);
    const std::uint64_t current = mem.load_relaxed(this->team_.threads[me].iteration.word);
    const std::uint32_t size = groups_.threads_per_group;
    const bool leads = me % size == 0;
    if (leads &&
        !await_flags(mem, current, me + 1, std::min(me + size, this->team_.num_threads), 1))
      return false;
    mem.store_relaxed(flag(me, (current + 1) % kNumIterations), 1);
    mem.store_relaxed(flag(me, current), 0);
    if (leads && !await_flags(mem, current, 0, this->team_.num_threads, size)) return false;
    mem.fence();
    return true;
  }

 private:
  typename Base::Word& flag(std::uint32_t thread, std::uint64_t iteration) const {
    return this->team_.threads[thread].still_needs[iteration].word;
  }
  typename Base::Word& go(std::uint32_t index) const { return this->team_.threads[index].go.word; }

  // It reads all of them each time.
  bool await_flags(Mem& mem, std::uint64_t iteration, std::uint32_t begin, std::uint32_t end,
                   std::uint32_t step) const {
    for (;;) {
      std::uint32_t pending = end;
      for (std::uint32_t thread = begin; thread < end; thread += step) {
        if (mem.load_acquire(flag(thread, iteration)) != 0) pending = thread;
      }
      if (pending == end) return true;
      if (!await_value(mem, flag(pending, iteration), 0)) return false;
    }
  }

  bool release_all(Mem& mem, std::uint64_t next_go, const Payload& payload) const {
    mem.store_relaxed(this->team_.lines.icvs.word, 1);
    this->set_function(mem, payload);
    for (std::uint32_t i = 0; i < groups_.num_gos; i += groups_.gos_per_group)
      mem.store_release(go(i), next_go);
    wake(mem, groups_.threads_per_group, this->team_.num_threads, groups_.threads_per_group);
    for (std::uint32_t i = 1; i < groups_.gos_per_group; ++i) mem.store_release(go(i), next_go);
    mem.fence();
    wake(mem, 1, std::min(groups_.threads_per_group, this->team_.num_threads), 1);
    return true;
  }

  bool await_release(Mem& mem, std::uint32_t me, std::uint64_t next_go, Payload& payload) const {
    const std::uint32_t own_go = me / groups_.threads_per_go;
    if (!await_value(mem, go(own_go), next_go)) return false;
    const bool leads = me % groups_.threads_per_group == 0;
    if (leads) {
      const std::uint32_t end = std::min(own_go + groups_.gos_per_group, groups_.num_gos);
      for (std::uint32_t i = own_go + 1; i < end; ++i) mem.store_release(go(i), next_go);
      mem.fence();
    }
    mem.load_relaxed(this->team_.lines.icvs.word);
    mem.store_relaxed(this->team_.threads[me].task.word, 1);
    if (leads)
      wake(mem, me + 1, std::min(me + groups_.threads_per_group, this->team_.num_threads), 1);
    payload = this->function(mem);
    return true;
  }

  // __kmp_dist_barrier_wakeup(): it locks the mutex of each thread, whether that one sleeps or not.
  void wake(Mem& mem, std::uint32_t begin, std::uint32_t end, std::uint32_t step) const {
    for (std::uint32_t thread = begin; thread < end; thread += step) {
      mem.exchange(this->team_.threads[thread].suspend_mutex.word, 1);
      mem.exchange(this->team_.threads[thread].suspend_mutex.word, 0);
    }
  }

  DistGroups groups_;
};

}  // namespace hierbar::bench::model
