// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "bench/simulation/fiber.hpp"

namespace hierbar::test {

// Simulated memory that is not sequentially consistent. The operations of a participant:
//
//   store      It goes into the participant's own store buffer. It becomes visible later, when
//              drain_one() says so. Buffered stores may overtake each other, but two to one word
//              stay in order, and a release store waits for all before it.
//   load       It reads the own buffer first. Otherwise it may return an earlier value: one that
//              the word had at any time since the participant's last acquire (acquire load,
//              read-modify-write that is not relaxed, or fence), but none older than the
//              participant has already seen in this word.
//   rmw        It drains the own buffer and acts at once on the newest value, also if it is
//              relaxed.
//   fence      It drains the own buffer. Later loads do not return values from before it.
//   heavy      It drains all participants' buffers, as the fences do that membarrier(2) lets every
//   fence      thread pass. Whose next light fence comes later does not return values from before
//   it. light      The compiler moves no load across it. Loads before it, and loads without one,
//   may fence      return values from before a heavy fence: the compiler may have put them there.
//
// Besides, happens-before is checked by vector clocks. A release store attaches its participant's
// clock to the value. An acquire load of that value joins it. A relaxed store attaches none. A
// read-modify-write keeps the clock that it finds and, unless it is relaxed, adds its own. Plain
// cells have the data that the barrier must protect. Each access to one must happen after the
// conflicting accesses of other participants; otherwise it is a data race, whatever it returned.
class SimMemory {
 public:
  // kOrdered: acquire for a load, release for a store, both for an rmw.
  enum class Order : std::uint8_t { kRelaxed, kOrdered };

  SimMemory(std::uint32_t num_participants, std::uint32_t num_words, std::uint32_t num_cells);

  // Makes everything new: words and cells are zero, buffers are empty.
  void reset();
  // Sets the word's value at the beginning, which all know. Comes before any other operation.
  void set_initial(std::uint32_t word, std::uint64_t value) {
    versions_[word * kKept].value = value;
  }

  std::uint64_t load(std::uint32_t me, std::uint32_t word, Order order, Random& random);
  void store(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order,
             Random& random);
  template <class Change>
  std::uint64_t rmw(std::uint32_t me, std::uint32_t word, Order order, Change&& change) {
    drain_all(me);
    const std::uint64_t before = begin_rmw(me, word, order);
    publish_rmw(me, word, change(before), order);
    return before;
  }
  void fence(std::uint32_t me) {
    drain_all(me);
    acquired_at_[me] = now_;
  }
  void heavy_fence(std::uint32_t me) {
    for (std::uint32_t p = 0; p < num_participants_; ++p) drain_all(p);
    heavy_fence_at_ = now_;
    acquired_at_[me] = now_;
  }
  void light_fence(std::uint32_t me) {
    acquired_at_[me] = std::max(acquired_at_[me], heavy_fence_at_);
  }

  // Makes one of `me`'s buffered stores visible, any that may be next. Does nothing if there is
  // none.
  void drain_one(std::uint32_t me, Random& random);
  bool has_buffered(std::uint32_t me) const { return buffer_sizes_[me] != 0; }
  // Whether `me` has seen the newest value of `word`.
  bool is_up_to_date(std::uint32_t me, std::uint32_t word) const {
    return seen_[me * num_words_ + word] == newest_[word];
  }

  // Both return false at a data race.
  [[nodiscard]] bool write_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t value);
  [[nodiscard]] bool read_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t& value);

  // Plain data outside of this memory, from `first` on. A cell stands for each kBytesPerCell of
  // them; it comes into being when they are first accessed.
  static constexpr std::size_t kBytesPerCell = 4;
  void set_data(const std::byte* first, std::size_t bytes);
  std::uint32_t cell_of_data(const std::byte* data);

  // The words that have changed visibly since forget_changed_words().
  const std::vector<std::uint32_t>& changed_words() const { return changed_words_; }
  void forget_changed_words() { changed_words_.clear(); }

 private:
  static constexpr std::uint32_t kKept = 4;        // versions of a word that loads can still return
  static constexpr std::uint32_t kBufferSize = 8;  // stores in flight; before one more, one drains

  struct Version {
    std::uint64_t value;
    std::uint64_t written_at;
    bool has_clock;
  };
  struct Buffered {
    std::uint64_t value;
    std::uint32_t word;
    std::uint32_t clock;  // its place in buffered_clocks_
    Order order;
  };
  struct Cell {
    std::uint64_t value;
    std::uint32_t writer;
    std::uint32_t written_at;  // on the writer's own clock; 0: never
  };

  std::uint32_t* clock_of(std::uint32_t me) { return &clocks_[me * num_participants_]; }
  std::uint32_t position(std::uint32_t word, std::uint32_t version) const {
    return word * kKept + version % kKept;
  }
  std::uint32_t* attached_clock(std::uint32_t pos) {
    return &attached_clocks_[pos * num_participants_];
  }
  Buffered* buffer_of(std::uint32_t me) { return &buffers_[me * kBufferSize]; }
  void join(std::uint32_t* into, const std::uint32_t* from) const;
  void assign(std::uint32_t* into, const std::uint32_t* from) const;

  Version& append_version(std::uint32_t me, std::uint32_t word, std::uint64_t value);
  void drain_all(std::uint32_t me);
  void drain_entry(std::uint32_t me, std::uint32_t entry);
  bool may_drain(std::uint32_t me, std::uint32_t entry);
  std::uint64_t begin_rmw(std::uint32_t me, std::uint32_t word, Order order);
  void publish_rmw(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order);

  std::uint32_t num_participants_;
  std::uint32_t num_words_;
  std::uint64_t now_ = 0;             // counts visible changes of memory
  std::uint64_t heavy_fence_at_ = 0;  // the last one

  // By word.
  std::vector<std::uint32_t> newest_;           // number of the newest version
  std::vector<Version> versions_;               // the last kKept, a ring
  std::vector<std::uint32_t> attached_clocks_;  // a clock for each
  std::vector<std::uint32_t> changed_words_;

  // By participant.
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint64_t> acquired_at_;
  std::vector<std::uint32_t> seen_;  // [participant][word]: the newest version that it has seen
  std::vector<std::uint32_t> buffer_sizes_;
  std::vector<Buffered> buffers_;  // oldest first
  std::vector<std::uint32_t> buffered_clocks_;

  // By plain cell. Those of data come last.
  std::uint32_t num_cells_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> read_at_;  // [cell][participant]: on the reader's own clock; 0: never
  const std::byte* data_ = nullptr;
  std::vector<std::uint32_t> cells_of_data_;  // 1 + the cell; 0: none yet
};

enum class Failure : std::uint8_t {
  kNone,
  kDataRace,    // a plain cell was accessed, unordered with another participant's access
  kWrongValue,  // the participant read, combined or OR-ed a wrong value
  kDeadlock,    // nobody can go on and no store is in flight
  kEndless,     // more steps than any correct run takes
};

const char* to_string(Failure failure);

struct Outcome {
  Failure failure = Failure::kNone;
  std::string what;  // the first failure in words; empty if there was none
  std::uint64_t num_steps = 0;
};

// Runs participants as fibers over a SimMemory, one at a time, under a schedule that is drawn from
// a seed: equal seeds give equal runs. At every memory operation another participant may go on, a
// buffered store may become visible, or a sleeper may wake for no reason. What is likely differs
// from run to run (draw_habits()): some runs switch often, some let one participant go far ahead,
// some hardly run one, some keep stores back until nobody can go on without them.
class SimMachine {
 public:
  SimMachine(std::uint32_t num_participants, std::uint32_t num_words, std::uint32_t num_cells);

  // A run is begin(), then set_initial() for words, then run(). `body` is called once for each
  // participant. It must end soon after one of its waits was aborted. After a failure every wait is
  // aborted.
  void begin(std::uint64_t seed);
  void set_initial(std::uint32_t word, std::uint64_t value) { memory_.set_initial(word, value); }
  Outcome run(const std::function<void(std::uint32_t me)>& body);

  // The running participant calls the following functions.
  using Order = SimMemory::Order;
  std::uint64_t load(std::uint32_t me, std::uint32_t word, Order order) {
    step(me);
    return memory_.load(me, word, order, random_);
  }
  void store(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order) {
    step(me);
    memory_.store(me, word, value, order, random_);
    notice_changes();
  }
  template <class Change>
  std::uint64_t rmw(std::uint32_t me, std::uint32_t word, Order order, Change&& change) {
    step(me);
    const std::uint64_t before = memory_.rmw(me, word, order, change);
    notice_changes();
    return before;
  }
  void fence(std::uint32_t me) {
    step(me);
    memory_.fence(me);
    notice_changes();
  }
  void heavy_fence(std::uint32_t me) {
    step(me);
    memory_.heavy_fence(me);
    notice_changes();
  }
  void light_fence(std::uint32_t me) { memory_.light_fence(me); }
  void write_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t value) {
    if (!memory_.write_cell(me, cell, value)) report_race(me, cell, "writes");
  }
  std::uint64_t read_cell(std::uint32_t me, std::uint32_t cell) {
    std::uint64_t value = 0;
    if (!memory_.read_cell(me, cell, value)) report_race(me, cell, "reads");
    return value;
  }
  // Plain data whose values the participants keep themselves.
  void set_data(const std::byte* first, std::size_t bytes) { memory_.set_data(first, bytes); }
  void access_data(std::uint32_t me, const std::byte* data, std::size_t bytes, bool writes);

  // Waiting. A watcher goes on when the word changes. So polling costs no steps, and a poll without
  // hope is a deadlock. A sleeper goes on when somebody calls wake() for it after prepare_sleep(),
  // or for no reason.
  void watch(std::uint32_t me, std::uint32_t word);
  void prepare_sleep(std::uint32_t me) { participants_[me].woken = false; }
  void sleep(std::uint32_t me);
  void wake(std::uint32_t participant);
  bool can_sleep() const { return habits_.sleep_chances != 0; }
  bool draw_announces_once() { return random_.one_in(2); }
  bool draw_sleep() { return can_sleep() && random_.one_in(habits_.sleep_chances); }
  std::uint32_t draw_polls() { return random_.below(3); }

  void fail(Failure failure, std::string what);
  bool is_stopped() const { return stopped_; }

 private:
  enum class State : std::uint8_t { kRunnable, kWatching, kAsleep, kFinished };
  enum class Choice : std::uint8_t { kUniform, kBursts, kPriorities, kStarving };
  struct Habits {
    Choice choice;
    std::uint32_t drain_chances;     // a store drains in one of so many steps; 0: only if it must
    std::uint32_t sleep_chances;     // one wait in so many sleeps; 0: nobody ever does
    std::uint32_t spurious_chances;  // a sleeper wakes for no reason in one of so many; 0: never
    std::uint32_t late;              // kStarving: who hardly ever runs
  };
  struct Participant {
    State state;
    bool woken;              // wake() was called since prepare_sleep()
    std::uint32_t position;  // in runnable_, while kRunnable
    std::uint32_t word;      // while kWatching
    std::int64_t priority;   // kPriorities: the highest runs
  };

  void draw_habits();
  void step(std::uint32_t me);
  void disturb();
  void notice_changes();
  bool drain_somebody();
  std::uint32_t choose(std::uint32_t me);
  std::uint32_t choose_by_priority();
  void block(std::uint32_t me, State state);
  void unblock(std::uint32_t participant);
  void finish(std::uint32_t me);
  void stop();
  void leave(std::uint32_t me);
  std::string describe_waiters() const;
  void report_race(std::uint32_t me, std::uint32_t cell, const char* verb);

  std::uint32_t num_participants_;
  SimMemory memory_;
  Random random_{0};
  Habits habits_{};
  std::vector<Participant> participants_;
  std::vector<std::uint32_t> runnable_;
  std::uint32_t num_watching_ = 0;
  std::uint32_t num_finished_ = 0;
  std::int64_t lowest_priority_ = 0;
  bool stopped_ = false;
  Outcome outcome_;

  const std::function<void(std::uint32_t)>* body_ = nullptr;
  Fiber main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

}  // namespace hierbar::test
