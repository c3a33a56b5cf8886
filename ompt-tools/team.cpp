// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ompt-tools/team.hpp"

#include <algorithm>

namespace hierbar::ompt {
namespace {

// Lines that other threads have, asked for before they are needed: one after the other each would take the way between two
// processors, and a store that waits for its line keeps the next arrival waiting, which comes after all stores before it.
void fetch_to_read(const void* line) noexcept { __builtin_prefetch(line, 0); }
void fetch_to_write(const void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));  // GCC's builtin asks for it to read
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace

Team::Team(std::uint32_t capacity, std::uint64_t every, const TraceClock& clock)
    : capacity_(capacity), every_(every), clock_(clock), participants_(std::make_unique<std::atomic<Participant*>[]>(capacity)) {
  size_ = capacity;
}

Team::~Team() {
  for (std::uint32_t i = 0; i < capacity_; ++i) delete participant(i);
}

// ---- 1. record ----

// After a cancelled region the threads may have counted differently; all go on from the primary's numbers.
void Team::begin_region() noexcept {
  const Participant* primary = participant(0);
  if (primary == nullptr) return;
  left_at_first_ = primary->until_record.left_;
  first_episode_ = primary->episodes;
}

// What is left waits for the next region, because it is most often the same one, unless the runtime gave fewer threads than were
// asked for: the next one may get another number.
void Team::end_region() {
  if (size_ != capacity_) flush();
}

Countdown& Team::enter(std::uint32_t me, std::uint32_t size) {
  if (me == 0) size_ = size;
  Participant* own = participant(me);
  if (own == nullptr) {
    own = new Participant;
    participants_[me].store(own, std::memory_order_relaxed);
  }
  catch_up(me);
  own->until_record.left_ = left_at_first_;
  own->until_record.every_ = every_;
  own->episodes = first_episode_;
  return own->until_record;
}

Record* Team::open(std::uint32_t me, const void* address, std::uint32_t kind) noexcept {
  Participant& own = *participant(me);
  Record& record = own.records[own.episodes % kRing];
  record.episode = ++own.episodes;
  record.phases.released = 0;
  record.phases.shape = 0;
  record.address = address;
  record.kind = kind;
  record.team_size = size_;
  return &record;
}

void Team::add_task(std::uint32_t me, std::uint64_t begin, std::uint64_t end) noexcept {
  Participant& own = *participant(me);
  const std::uint64_t place = (own.episodes - 1) % kRing;
  Record& record = own.records[place];
  own.tasks[place] = (record.done == record.phases.arrived ? 0 : own.tasks[place]) + (end - begin);
  record.done = end;
}

// (P1) release, pairs with (P2): a tree is whole when it is found.
void Team::add_shape(std::unique_ptr<const Shape> shape) {
  const Shape* added = all_shapes_.emplace_back(std::move(shape)).get();
  shapes_[(all_shapes_.size() - 1) % shapes_.size()].store(added, std::memory_order_release);
}

// (P2) acquire, pairs with (P1).
const Shape* Team::find_shape(std::uint64_t serial) const noexcept {
  for (const std::atomic<const Shape*>& slot : shapes_) {
    const Shape* shape = slot.load(std::memory_order_acquire);
    if (shape != nullptr && shape->serial == serial) return shape;
  }
  return nullptr;
}

void Team::catch_up(std::uint32_t me) {
  Participant& own = *participant(me);
  // Others have read it when they summarised. Not the very next record: barriers back to back would not leave the time.
  fetch_to_write(&own.records[(own.episodes + 1) % kRing]);
  if (own.episodes <= kBatch) return;
  if (const std::uint64_t end = (own.episodes - 1) / kBatch * kBatch; own.summarised < end) {
    const std::uint64_t begin = end - kBatch + me;
    for (std::uint64_t episode = begin; episode < end; episode += size_) fetch(episode);
    for (std::uint64_t episode = begin; episode < end; episode += size_) summarise(episode, own);
    own.summarised = end;
  }
  if (const std::uint64_t end = (own.episodes - 2) / kBatch * kBatch; own.accounted < end) {
    const std::uint64_t begin = std::max(own.accounted, end - kBatch);
    for (std::uint64_t episode = begin; episode < end; ++episode) fetch_to_read(&summaries_[episode % kRing]);
    for (std::uint64_t episode = begin; episode < end; ++episode) account(episode, me, own);
    own.accounted = end;
  }
}

// What summarise() will need.
void Team::fetch(std::uint64_t episode) const noexcept {
  fetch_to_write(&summaries_[episode % kRing]);
  for (std::uint32_t i = 0; i < size_; ++i) {
    const Participant* other = participant(i);
    if (other != nullptr) fetch_to_read(&other->records[episode % kRing]);
  }
}

void Team::flush() {
  Participant* primary = participant(0);
  if (primary == nullptr) return;
  const std::uint64_t end = primary->episodes;
  const std::uint64_t begin = end > kRing ? end - kRing : 0;
  for (std::uint64_t episode = begin; episode < end; ++episode) summarise(episode, *primary);
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    Participant* own = participant(i);
    if (own == nullptr) continue;
    for (std::uint64_t episode = std::max(own->accounted, begin); episode < end; ++episode) account(episode, i, *own);
    own->summarised = own->accounted = end;
  }
}

void Team::forget() {
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (Participant* own = participant(i)) own->tables = {};
  }
}

// ---- 2. summarise ----

bool Team::is_disturbed(std::uint64_t episode) const noexcept {
  const std::uint64_t place = episode % kBatch;
  return every_ == 1 && episode >= kBatch && (place == 1 || place == 2);
}

void Team::summarise(std::uint64_t episode, Participant& own) {
  Summary& summary = summaries_[episode % kRing];
  if (summary.episode == episode + 1) return;
  const Record& first = participant(0)->records[episode % kRing];
  // libomp tells only the primary the address of a region's end.
  summary.address = first.address;
  summary.kind = first.kind;
  summary.team_size = first.team_size;
  std::uint64_t last = 0, finish = 0;
  std::uint32_t last_thread = kNobody;
  bool complete = true, ran_tasks = false;
  for (std::uint32_t i = 0; i < summary.team_size; ++i) {
    const Participant* other = participant(i);
    const Record* record = other == nullptr ? nullptr : &other->records[episode % kRing];
    if (record == nullptr || record->episode != episode + 1) {
      complete = false;
      break;
    }
    if (record->done > last) {
      last = record->done;
      last_thread = i;
    }
    finish = std::max<std::uint64_t>(finish, record->phases.released);
    ran_tasks = ran_tasks || record->done != record->phases.arrived;
  }
  const bool counts = complete && !is_disturbed(episode);
  summary.last = last;
  summary.last_thread = counts ? last_thread : kNobody;
  summary.episode = episode + 1;
  Losses& losses = own.tables.losses;
  if (!complete) {
    ++losses.incomplete;
  } else if (!counts) {
    ++losses.left_out;
  } else if (finish != 0) {
    if (finish < last) ++losses.backwards;
    const std::uint64_t span = finish > last ? finish - last : 0;
    BarrierTimes& times = own.tables.barriers.at(summary.site());
    times.span.add(clock_.to_ns(span));
    if (!ran_tasks) summarise_levels(episode, span, own, times);
  }
}

void Team::summarise_levels(std::uint64_t episode, std::uint64_t span, Participant& own, BarrierTimes& times) {
  const std::uint64_t serial = participant(0)->records[episode % kRing].phases.shape;
  const Shape* shape = serial == 0 ? nullptr : find_shape(serial);
  if (shape == nullptr) return;
  own.of_all.clear();
  for (std::uint32_t i = 0; i < shape->parents.size(); ++i) {
    const Participant* other = participant(i);
    if (other == nullptr) return;
    const Phases& phases = other->records[episode % kRing].phases;
    if (phases.shape != serial) return;
    own.of_all.push_back(&phases);
  }
  if (times.levels == nullptr) times.levels = std::make_unique<LevelTimes>();
  times.shape = shape;
  if (!add_episode(*times.levels, *shape, own.of_all, span, clock_)) ++own.tables.losses.backwards;
}

// ---- 3. account ----

void Team::account(std::uint64_t episode, std::uint32_t me, Participant& own) {
  const Record& record = own.records[episode % kRing];
  const Summary& summary = summaries_[episode % kRing];
  if (record.episode != episode + 1) return;
  // Nobody took this share when the team had just become smaller.
  if (summary.episode != episode + 1 && me == 0) ++own.tables.losses.incomplete;
  if (summary.episode != episode + 1 || summary.last_thread == kNobody) return;
  const auto between = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
  ThreadTimes& times = own.tables.threads.at(summary.site());
  const Phases& phases = record.phases;
  const std::uint64_t tasks = record.done == phases.arrived ? 0 : own.tasks[episode % kRing];
  times.imbalance.add(clock_.to_ns(between(phases.arrived + tasks, summary.last)));
  if (phases.released != 0) times.sync.add(clock_.to_ns(between(summary.last, phases.released)));
  times.tasks_ns += clock_.to_ns(tasks);
  if (summary.last_thread == me) ++times.last_arrivals;
}

const Team::Tables* Team::tables(std::uint32_t me) const noexcept {
  const Participant* own = me < capacity_ ? participant(me) : nullptr;
  return own == nullptr ? nullptr : &own->tables;
}

}  // namespace hierbar::ompt
