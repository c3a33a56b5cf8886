// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "bench/simulation/fiber.hpp"
#include "sim_memory.hpp"

namespace hierbar::test {

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

  // Waiting. A watcher goes on when the word changes. So polling costs no steps, and a poll without
  // hope is a deadlock. A sleeper goes on when somebody calls wake() for it after prepare_sleep(),
  // or for no reason.
  void watch(std::uint32_t me, std::uint32_t word);
  void prepare_sleep(std::uint32_t me) { participants_[me].woken = false; }
  void sleep(std::uint32_t me);
  void wake(std::uint32_t participant);
  bool can_sleep() const { return habits_.sleep_chances != 0; }
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
