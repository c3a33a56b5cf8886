// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/simulator.hpp"

#include <algorithm>
#include <utility>

namespace hierbar::bench::model {
namespace {

// Correct runs need far fewer.
constexpr std::uint64_t kMaxEventsPerParticipant = 1'000'000;
// ns between a meeting and its end. All that is in flight ends before.
constexpr Time kRest = 1000;

}  // namespace

Simulator::Simulator(const Places& places) : places_(places), cores_(places.count()) {
  for (std::uint32_t me = 0; me < places.count(); ++me) {
    fibers_.push_back(std::make_unique<Fiber>([this, me] {
      for (;;) {
        (*body_)(me);
        finish(me);
      }
    }));
  }
}

// 1. A run.

std::string Simulator::run(const Parameters& parameters, Storage storage, std::uint64_t seed,
                           const std::function<void(std::uint32_t)>& body) {
  parameters_ = parameters;
  storage_ = std::move(storage);
  watchers_.resize(std::max(watchers_.size(), storage_.domain_of_line.size()));
  for (auto& watchers : watchers_) watchers.clear();
  memory_.reset(parameters, places_, storage_.domain_of_line, seed);
  now_ = 0;
  num_events_ = 0;
  num_finished_ = 0;
  num_met_ = 0;
  failure_.clear();
  pending_.clear();
  free_pending_.clear();
  events_.clear();
  body_ = &body;
  const auto at_least_one = [](double number) {
    return static_cast<std::size_t>(std::max(1.0, number));
  };
  for (std::uint32_t me = 0; me < cores_.size(); ++me) {
    cores_[me] = Core{};
    cores_[me].loads.assign(at_least_one(parameters.outstanding), 0);
    cores_[me].stores.assign(at_least_one(parameters.store_buffer), 0);
    if (me != 0) push(Event{memory_.vary(1), 0, me, kNoStore});
  }
  main_.switch_to(*fibers_[0]);
  return failure_;
}

void Simulator::finish(std::uint32_t me) {
  cores_[me].is_finished = true;
  if (++num_finished_ == cores_.size()) {
    fibers_[me]->switch_to(main_);
  } else {
    go_on(me);
  }
}

// 2. Time.

void Simulator::push(Event event) {
  event.order = ++num_events_;
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), later);
}

// Advances the participant's time until all its own work is done and `at_least` is reached.
void Simulator::advance(std::uint32_t me, Time at_least) {
  if (is_stopped()) return;
  const Time until = std::max(at_least, now_ + cores_[me].debt);
  cores_[me].debt = 0;
  if (until == now_) return;
  if (events_.empty() || until < events_.front().time) {  // no event comes in between
    now_ = until;
    ++num_events_;
    return;
  }
  push(Event{until, 0, me, kNoStore});
  go_on(me);
}

// Performs events up to the next one that lets a participant continue, and switches to it. That may
// be `me`.
void Simulator::go_on(std::uint32_t me) {
  for (;;) {
    if (num_events_ > kMaxEventsPerParticipant * cores_.size())
      fail("no end after " + std::to_string(num_events_) + " events");
    if (events_.empty()) fail("deadlock: nobody can go on");
    std::pop_heap(events_.begin(), events_.end(), later);
    const Event event = events_.back();
    events_.pop_back();
    now_ = std::max(now_, event.time);
    if (event.store != kNoStore) {
      const QueuedStore store = pending_[event.store];
      free_pending_.push_back(event.store);
      apply(store);
      continue;
    }
    if (cores_[event.core].is_finished) continue;  // after a failure it has continued by itself
    if (event.core != me) fibers_[me]->switch_to(*fibers_[event.core]);
    return;
  }
}

Time Simulator::settle(std::uint32_t me) {
  advance(me, std::max(cores_[me].loaded, cores_[me].stored));
  return now_;
}

void Simulator::meet(std::uint32_t me) {
  settle(me);
  if (is_stopped()) return;
  if (++num_met_ < cores_.size()) return go_on(me);
  num_met_ = 0;
  for (std::uint32_t other = 0; other < cores_.size(); ++other)
    push(Event{now_ + kRest + memory_.vary(1), 0, other, kNoStore});
  go_on(me);
}

// 3. Memory.

std::uint64_t Simulator::load(std::uint32_t me, const Word& word) {
  Core& core = cores_[me];
  const std::uint32_t line = line_of(word);
  Memory::Poll poll = memory_.poll(me, line, now_);
  if (poll.presence == Memory::Presence::kAbsent) {
    Time& oldest = core.loads[core.next_load];
    advance(me, oldest);
    poll = memory_.poll(me, line, now_);
    if (poll.presence == Memory::Presence::kAbsent) {
      oldest = memory_.read(me, line, now_);
      core.loaded = std::max(core.loaded, oldest);
      core.next_load = core.next_load + 1 == core.loads.size() ? 0 : core.next_load + 1;
    }
  } else if (poll.presence == Memory::Presence::kComing) {
    advance(me, poll.arrives);
  }
  core.debt += parameters_.issue;
  return word.value;
}

void Simulator::store(std::uint32_t me, Word& word, std::uint64_t value) {
  Core& core = cores_[me];
  Time& oldest = core.stores[core.next_store];
  advance(me, std::max(core.loaded, oldest));
  const std::uint32_t line = line_of(word);
  // Stores become visible in order.
  const Time complete = memory_.write(me, line, now_, core.stored);
  core.debt += parameters_.issue;
  if (complete <= now_) {
    apply(QueuedStore{&word, value, line, me});
    return;
  }
  core.stored = oldest = complete;
  core.next_store = core.next_store + 1 == core.stores.size() ? 0 : core.next_store + 1;
  std::uint32_t index = static_cast<std::uint32_t>(pending_.size());
  if (free_pending_.empty()) {
    pending_.emplace_back();
  } else {
    index = free_pending_.back();
    free_pending_.pop_back();
  }
  pending_[index] = QueuedStore{&word, value, line, me};
  push(Event{complete, 0, me, index});
}

void Simulator::apply(const QueuedStore& store) {
  store.word->value = store.value;
  wake_watchers(store.line);
}

std::uint32_t Simulator::begin_read_modify_write(std::uint32_t me, Word& word) {
  settle(me);
  const std::uint32_t line = line_of(word);
  cores_[me].loaded = memory_.read_modify_write(me, line, now_);
  advance(me, cores_[me].loaded);
  return line;
}

void Simulator::end_read_modify_write(std::uint32_t me, std::uint32_t line) {
  memory_.end_read_modify_write(line);
  cores_[me].debt += parameters_.issue;
  wake_watchers(line);
}

// 4. Waiting.

void Simulator::await_change(std::uint32_t me, const Word& word) {
  if (is_stopped()) return;
  const std::uint32_t line = line_of(word);
  advance(me, now_);
  const Memory::Poll poll = memory_.poll(me, line, now_);
  if (poll.presence == Memory::Presence::kComing) return advance(me, poll.arrives);
  if (poll.presence == Memory::Presence::kAbsent) return;
  watchers_[line].push_back(me);
  go_on(me);
}

void Simulator::wake_watchers(std::uint32_t line) {
  for (const std::uint32_t watcher : watchers_[line]) {
    push(Event{now_ + memory_.vary(parameters_.notice), 0, watcher, kNoStore});
  }
  watchers_[line].clear();
}

// Lets every participant run to its end.
void Simulator::fail(const std::string& what) {
  if (is_stopped()) return;
  failure_ = what;
  for (auto& watchers : watchers_) watchers.clear();
  events_.clear();
  for (std::uint32_t me = 0; me < cores_.size(); ++me) {
    if (!cores_[me].is_finished) push(Event{now_, 0, me, kNoStore});
  }
}

}  // namespace hierbar::bench::model
