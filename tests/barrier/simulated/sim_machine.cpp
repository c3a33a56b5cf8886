// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim_machine.hpp"

#include <array>
#include <utility>

namespace hierbar::test {
namespace {

// Correct runs of the largest shapes stay below a tenth of this.
constexpr std::uint64_t kMaxStepsPerParticipant = 50'000;

template <std::size_t kSize>
std::uint32_t pick(Random& random, const std::array<std::uint32_t, kSize>& values) {
  return values[random.below(kSize)];
}

}  // namespace

const char* to_string(Failure failure) {
  switch (failure) {
    case Failure::kNone:
      return "none";
    case Failure::kDataRace:
      return "data race";
    case Failure::kWrongValue:
      return "wrong value";
    case Failure::kDeadlock:
      return "deadlock";
    case Failure::kEndless:
      return "endless";
  }
  return "unknown";
}

SimMachine::SimMachine(std::uint32_t num_participants, std::uint32_t num_words, std::uint32_t num_cells)
    : num_participants_(num_participants), memory_(num_participants, num_words, num_cells), participants_(num_participants) {
  for (std::uint32_t p = 0; p < num_participants; ++p) {
    fibers_.push_back(std::make_unique<Fiber>([this, p] {
      for (;;) {
        (*body_)(p);
        finish(p);
      }
    }));
  }
}

// 1. A run.

void SimMachine::begin(std::uint64_t seed) {
  random_ = Random(seed);
  memory_.reset();
  outcome_ = Outcome{};
  stopped_ = false;
  num_watching_ = 0;
  num_finished_ = 0;
  lowest_priority_ = 0;
  runnable_.clear();
  for (std::uint32_t p = 0; p < num_participants_; ++p) {
    participants_[p] = Participant{State::kRunnable, false, p, 0, random_.below(1U << 20)};
    runnable_.push_back(p);
  }
  draw_habits();
}

void SimMachine::draw_habits() {
  habits_.choice = static_cast<Choice>(random_.below(4));
  habits_.drain_chances = pick<4>(random_, {2, 8, 64, 0});
  habits_.sleep_chances = pick<4>(random_, {1, 1, 3, 0});
  habits_.spurious_chances = pick<3>(random_, {0, 0, 32});
  habits_.late = random_.below(num_participants_);
}

Outcome SimMachine::run(const std::function<void(std::uint32_t)>& body) {
  body_ = &body;
  main_.switch_to(*fibers_[choose(0)]);
  return std::move(outcome_);
}

// 2. Who runs next.

void SimMachine::step(std::uint32_t me) {
  if (stopped_) return;
  if (++outcome_.num_steps > kMaxStepsPerParticipant * num_participants_) {
    fail(Failure::kEndless, "no end after " + std::to_string(outcome_.num_steps) + " steps");
    return;
  }
  disturb();
  const std::uint32_t next = choose(me);
  if (next != me) fibers_[me]->switch_to(*fibers_[next]);
}

void SimMachine::disturb() {
  if (habits_.drain_chances != 0 && random_.one_in(habits_.drain_chances)) drain_somebody();
  if (habits_.spurious_chances != 0 && random_.one_in(habits_.spurious_chances)) {
    const std::uint32_t lucky = random_.below(num_participants_);
    if (participants_[lucky].state == State::kAsleep) unblock(lucky);
  }
}

// Returns false if all store buffers are empty.
bool SimMachine::drain_somebody() {
  const std::uint32_t first = random_.below(num_participants_);
  for (std::uint32_t i = 0; i < num_participants_; ++i) {
    const std::uint32_t p = first + i < num_participants_ ? first + i : first + i - num_participants_;
    if (!memory_.has_buffered(p)) continue;
    memory_.drain_one(p, random_);
    notice_changes();
    return true;
  }
  return false;
}

void SimMachine::notice_changes() {
  if (num_watching_ != 0) {
    for (const std::uint32_t word : memory_.changed_words()) {
      for (std::uint32_t p = 0; p < num_participants_; ++p) {
        if (participants_[p].state == State::kWatching && participants_[p].word == word) unblock(p);
      }
    }
  }
  memory_.forget_changed_words();
}

// `me` is the participant that runs now; it may have just blocked.
std::uint32_t SimMachine::choose(std::uint32_t me) {
  const auto count = static_cast<std::uint32_t>(runnable_.size());
  switch (habits_.choice) {
    case Choice::kUniform:
      break;
    case Choice::kBursts:
      if (participants_[me].state == State::kRunnable && !random_.one_in(16)) return me;
      break;
    case Choice::kPriorities:
      return choose_by_priority();
    case Choice::kStarving: {
      const std::uint32_t index = random_.below(count);
      if (runnable_[index] != habits_.late || count == 1 || random_.one_in(256)) return runnable_[index];
      return runnable_[index + 1 < count ? index + 1 : 0];
    }
  }
  return runnable_[random_.below(count)];
}

// The highest priority runs until it blocks. Now and then its priority becomes the lowest.
std::uint32_t SimMachine::choose_by_priority() {
  std::uint32_t highest = runnable_[0];
  for (const std::uint32_t p : runnable_) {
    if (participants_[p].priority > participants_[highest].priority) highest = p;
  }
  if (random_.one_in(32)) participants_[highest].priority = --lowest_priority_;
  return highest;
}

// 3. Waiting.

void SimMachine::watch(std::uint32_t me, std::uint32_t word) {
  // Its last load returned an old value; the next may return a newer one.
  if (!memory_.is_up_to_date(me, word)) return;
  participants_[me].word = word;
  block(me, State::kWatching);
}

void SimMachine::sleep(std::uint32_t me) {
  step(me);
  if (participants_[me].woken || stopped_) return;
  block(me, State::kAsleep);
}

void SimMachine::wake(std::uint32_t participant) {
  participants_[participant].woken = true;
  if (participants_[participant].state == State::kAsleep) unblock(participant);
}

void SimMachine::block(std::uint32_t me, State state) {
  Participant& self = participants_[me];
  self.state = state;
  if (state == State::kWatching) ++num_watching_;
  const std::uint32_t last = runnable_.back();
  runnable_[self.position] = last;
  participants_[last].position = self.position;
  runnable_.pop_back();
  leave(me);
}

void SimMachine::unblock(std::uint32_t participant) {
  Participant& other = participants_[participant];
  if (other.state == State::kWatching) --num_watching_;
  other.state = State::kRunnable;
  other.position = static_cast<std::uint32_t>(runnable_.size());
  runnable_.push_back(participant);
}

// Runs another participant, because `me` cannot go on. Stores in flight are drained before it is a
// deadlock.
void SimMachine::leave(std::uint32_t me) {
  while (runnable_.empty()) {
    if (!drain_somebody()) fail(Failure::kDeadlock, "nobody can go on; " + describe_waiters());
  }
  const std::uint32_t next = choose(me);
  if (next != me) fibers_[me]->switch_to(*fibers_[next]);
}

void SimMachine::finish(std::uint32_t me) {
  if (++num_finished_ < num_participants_) {
    block(me, State::kFinished);
  } else {
    fibers_[me]->switch_to(main_);
  }
}

// 4. Failure.

void SimMachine::fail(Failure failure, std::string what) {
  if (stopped_) return;
  outcome_.failure = failure;
  outcome_.what = std::string(to_string(failure)) + ": " + std::move(what);
  stop();
}

// Lets every participant run to its end.
void SimMachine::stop() {
  stopped_ = true;
  for (std::uint32_t p = 0; p < num_participants_; ++p) {
    const State state = participants_[p].state;
    if (state == State::kWatching || state == State::kAsleep) unblock(p);
  }
}

std::string SimMachine::describe_waiters() const {
  std::string text;
  for (std::uint32_t p = 0; p < num_participants_; ++p) {
    const Participant& waiter = participants_[p];
    if (waiter.state == State::kFinished) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(p);
    text += waiter.state == State::kAsleep ? " sleeps" : " watches word " + std::to_string(waiter.word);
  }
  return text;
}

void SimMachine::report_race(std::uint32_t me, std::uint32_t cell, const char* verb) {
  if (stopped_) return;
  fail(Failure::kDataRace, "participant " + std::to_string(me) + " " + verb + " cell " + std::to_string(cell) +
                               " without happening after the others' accesses");
}

}  // namespace hierbar::test
