// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/barrier/simulated/sim_machine.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hierbar::test {
namespace {

constexpr std::uint32_t kEarlyLoadChances = 8;  // one load in so many returns an earlier value

}  // namespace

SimMemory::SimMemory(std::uint32_t num_participants, std::uint32_t num_words,
                     std::uint32_t num_cells)
    : num_participants_(num_participants),
      num_words_(num_words),
      newest_(num_words),
      versions_(std::size_t{num_words} * kKept),
      attached_clocks_(std::size_t{num_words} * kKept * num_participants),
      clocks_(std::size_t{num_participants} * num_participants),
      acquired_at_(num_participants),
      seen_(std::size_t{num_participants} * num_words),
      buffer_sizes_(num_participants),
      buffers_(std::size_t{num_participants} * kBufferSize),
      buffered_clocks_(buffers_.size() * num_participants),
      num_cells_(num_cells),
      cells_(num_cells),
      read_at_(std::size_t{num_cells} * num_participants) {
  reset();
}

void SimMemory::reset() {
  now_ = 0;
  heavy_fence_at_ = 0;
  std::fill(newest_.begin(), newest_.end(), 0);
  for (std::uint32_t word = 0; word < num_words_; ++word)
    versions_[word * kKept] = Version{0, 0, false};
  changed_words_.clear();
  std::fill(clocks_.begin(), clocks_.end(), 0);
  for (std::uint32_t p = 0; p < num_participants_; ++p) clock_of(p)[p] = 1;
  std::fill(acquired_at_.begin(), acquired_at_.end(), 0);
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(buffer_sizes_.begin(), buffer_sizes_.end(), 0);
  cells_.assign(num_cells_, Cell{0, 0, 0});
  read_at_.assign(std::size_t{num_cells_} * num_participants_, 0);
  std::fill(cells_of_data_.begin(), cells_of_data_.end(), 0);
}

void SimMemory::set_data(const std::byte* first, std::size_t bytes) {
  data_ = first;
  cells_of_data_.assign(bytes / kBytesPerCell, 0);
}

std::uint32_t SimMemory::cell_of_data(const std::byte* data) {
  std::uint32_t& cell = cells_of_data_.at(static_cast<std::size_t>(data - data_) / kBytesPerCell);
  if (cell == 0) {
    cells_.push_back(Cell{0, 0, 0});
    read_at_.resize(cells_.size() * num_participants_, 0);
    cell = static_cast<std::uint32_t>(cells_.size());
  }
  return cell - 1;
}

void SimMemory::join(std::uint32_t* into, const std::uint32_t* from) const {
  for (std::uint32_t p = 0; p < num_participants_; ++p) into[p] = std::max(into[p], from[p]);
}

void SimMemory::assign(std::uint32_t* into, const std::uint32_t* from) const {
  std::copy(from, from + num_participants_, into);
}

std::uint64_t SimMemory::load(std::uint32_t me, std::uint32_t word, Order order, Random& random) {
  const Buffered* buffer = buffer_of(me);
  for (std::uint32_t i = buffer_sizes_[me]; i-- > 0;) {
    if (buffer[i].word == word) return buffer[i].value;
  }
  // A version may be left out if the one before it was still there after the last acquire.
  std::uint32_t& seen = seen_[me * num_words_ + word];
  const std::uint32_t newest = newest_[word];
  std::uint32_t chosen = newest;
  std::uint64_t satisfied_at = now_;
  while (chosen > seen && newest - chosen + 1 < kKept) {
    const Version& version = versions_[position(word, chosen)];
    if (version.written_at <= acquired_at_[me] || !random.one_in(kEarlyLoadChances)) break;
    satisfied_at = version.written_at - 1;
    --chosen;
  }
  seen = chosen;
  const std::uint32_t pos = position(word, chosen);
  if (order == Order::kOrdered) {
    acquired_at_[me] = satisfied_at;
    if (versions_[pos].has_clock) join(clock_of(me), attached_clock(pos));
  }
  return versions_[pos].value;
}

void SimMemory::store(std::uint32_t me, std::uint32_t word, std::uint64_t value, Order order,
                      Random& random) {
  if (buffer_sizes_[me] == kBufferSize) drain_one(me, random);
  Buffered* buffer = buffer_of(me);
  const std::uint32_t size = buffer_sizes_[me]++;
  std::uint32_t clock = me * kBufferSize;
  const auto is_taken = [&](std::uint32_t candidate) {
    return std::any_of(buffer, buffer + size,
                       [candidate](const Buffered& entry) { return entry.clock == candidate; });
  };
  while (is_taken(clock)) ++clock;
  buffer[size] = Buffered{value, word, clock, order};
  if (order == Order::kRelaxed) return;
  assign(&buffered_clocks_[clock * num_participants_], clock_of(me));
  ++clock_of(me)[me];
}

SimMemory::Version& SimMemory::append_version(std::uint32_t me, std::uint32_t word,
                                              std::uint64_t value) {
  const std::uint32_t version = ++newest_[word];
  seen_[me * num_words_ + word] = version;
  changed_words_.push_back(word);
  return versions_[position(word, version)] = Version{value, ++now_, false};
}

bool SimMemory::may_drain(std::uint32_t me, std::uint32_t entry) {
  const Buffered* buffer = buffer_of(me);
  if (buffer[entry].order == Order::kOrdered) return entry == 0;
  return std::none_of(buffer, buffer + entry,
                      [&](const Buffered& earlier) { return earlier.word == buffer[entry].word; });
}

void SimMemory::drain_entry(std::uint32_t me, std::uint32_t entry) {
  Buffered* buffer = buffer_of(me);
  const Buffered& leaving = buffer[entry];
  Version& version = append_version(me, leaving.word, leaving.value);
  if (leaving.order == Order::kOrdered) {
    version.has_clock = true;
    assign(attached_clock(position(leaving.word, newest_[leaving.word])),
           &buffered_clocks_[leaving.clock * num_participants_]);
  }
  std::copy(buffer + entry + 1, buffer + buffer_sizes_[me], buffer + entry);
  --buffer_sizes_[me];
}

void SimMemory::drain_one(std::uint32_t me, Random& random) {
  if (buffer_sizes_[me] == 0) return;
  std::uint32_t entry = random.below(buffer_sizes_[me]);
  while (!may_drain(me, entry)) --entry;  // the oldest may always drain
  drain_entry(me, entry);
}

void SimMemory::drain_all(std::uint32_t me) {
  while (buffer_sizes_[me] != 0) drain_entry(me, 0);
}

std::uint64_t SimMemory::begin_rmw(std::uint32_t me, std::uint32_t word, Order order) {
  const std::uint32_t pos = position(word, newest_[word]);
  if (order == Order::kOrdered) {
    acquired_at_[me] = now_ + 1;  // the time at which publish_rmw() writes
    if (versions_[pos].has_clock) join(clock_of(me), attached_clock(pos));
  }
  return versions_[pos].value;
}

void SimMemory::publish_rmw(std::uint32_t me, std::uint32_t word, std::uint64_t value,
                            Order order) {
  const std::uint32_t before = position(word, newest_[word]);
  // Whether it is in the release sequence of an earlier store.
  const bool continues = versions_[before].has_clock;
  Version& version = append_version(me, word, value);
  std::uint32_t* attached = attached_clock(position(word, newest_[word]));
  version.has_clock = continues || order == Order::kOrdered;
  if (continues) {
    assign(attached, attached_clock(before));
    if (order == Order::kOrdered) join(attached, clock_of(me));
  } else if (order == Order::kOrdered) {
    assign(attached, clock_of(me));
  }
  if (order == Order::kOrdered) ++clock_of(me)[me];
}

bool SimMemory::write_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t value) {
  const std::uint32_t* clock = clock_of(me);
  Cell& target = cells_[cell];
  bool ordered = target.written_at <= clock[target.writer];
  const std::uint32_t* read_at = &read_at_[cell * num_participants_];
  for (std::uint32_t p = 0; p < num_participants_; ++p) ordered &= read_at[p] <= clock[p];
  target = Cell{value, me, clock[me]};
  return ordered;
}

bool SimMemory::read_cell(std::uint32_t me, std::uint32_t cell, std::uint64_t& value) {
  const std::uint32_t* clock = clock_of(me);
  const Cell& source = cells_[cell];
  value = source.value;
  read_at_[cell * num_participants_ + me] = clock[me];
  return source.written_at <= clock[source.writer];
}

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

SimMachine::SimMachine(std::uint32_t num_participants, std::uint32_t num_words,
                       std::uint32_t num_cells)
    : num_participants_(num_participants),
      memory_(num_participants, num_words, num_cells),
      participants_(num_participants) {
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
    const std::uint32_t p =
        first + i < num_participants_ ? first + i : first + i - num_participants_;
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
      if (runnable_[index] != habits_.late || count == 1 || random_.one_in(256))
        return runnable_[index];
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

void SimMachine::access_data(std::uint32_t me, const std::byte* data, std::size_t bytes,
                             bool writes) {
  for (std::size_t i = 0; i < bytes; i += SimMemory::kBytesPerCell) {
    const std::uint32_t cell = memory_.cell_of_data(data + i);
    if (writes) {
      write_cell(me, cell, 0);
    } else {
      read_cell(me, cell);
    }
  }
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
    text +=
        waiter.state == State::kAsleep ? " sleeps" : " watches word " + std::to_string(waiter.word);
  }
  return text;
}

void SimMachine::report_race(std::uint32_t me, std::uint32_t cell, const char* verb) {
  if (stopped_) return;
  fail(Failure::kDataRace, "participant " + std::to_string(me) + " " + verb + " cell " +
                               std::to_string(cell) +
                               " without happening after the others' accesses");
}

}  // namespace hierbar::test
