// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/team.hpp"

#include <algorithm>

#include "base/arch/memory.hpp"

namespace hierbar::report {
namespace {

// Prefetches, for lines that other threads have. Without them each line would be fetched only when
// it is needed, one after the other. Moreover, a store that waits for its line delays the next
// arrival, which must come after all earlier stores.
void fetch_to_read(const void* line) noexcept { __builtin_prefetch(line, 0); }
void fetch_to_write(const void* line) noexcept { prefetch_for_write(line); }

}  // namespace

RecordedTeam::RecordedTeam(std::uint32_t capacity, std::uint64_t every, const TraceClock& clock)
    : capacity_(capacity),
      every_(every),
      clock_(clock),
      participants_(std::make_unique<std::atomic<Participant*>[]>(capacity)) {
  size_ = capacity;
}

RecordedTeam::~RecordedTeam() {
  for (std::uint32_t i = 0; i < capacity_; ++i) delete participant(i);
}

// ---- 1. record ----

// After a cancelled region the threads' counts may differ. All threads go on with the primary's.
void RecordedTeam::begin_region() noexcept {
  const Participant* primary = participant(0);
  if (primary == nullptr) return;
  left_at_first_ = primary->until_record.left_;
  first_episode_ = primary->episodes;
}

// What is left waits for the next region, because that is most often the same one. But if the
// runtime gave fewer threads than requested, the next region may have another number of threads, so
// everything is done now.
void RecordedTeam::end_region() {
  if (size_ != capacity_) flush();
}

RecordedTeam::Participant& RecordedTeam::enter(std::uint32_t me, std::uint32_t size) {
  if (me == 0) size_ = size;
  if (participant(me) == nullptr)
    participants_[me].store(new Participant(me), std::memory_order_relaxed);
  Participant& own = *participant(me);
  catch_up(own);
  own.until_record.left_ = left_at_first_;
  own.until_record.every_ = every_;
  own.episodes = first_episode_;
  own.next_share = first_of_share(
      me, size, std::max(own.next_share, own.episodes - std::min(own.episodes, kRing)));
  own.work_is_due = 0;
  return own;
}

// The first episode from `begin` on that this thread summarises.
std::uint64_t RecordedTeam::first_of_share(std::uint32_t me, std::uint32_t size,
                                           std::uint64_t begin) noexcept {
  return begin + (me + size - begin % size) % size;
}

void RecordedTeam::set_cpus(std::uint32_t me, std::string cpus) {
  participant(me)->cpus = std::move(cpus);
}
const std::string& RecordedTeam::cpus(std::uint32_t me) const noexcept {
  return participant(me)->cpus;
}

void RecordedTeam::add_task(Participant& own, std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t place = (own.episodes - 1) % kRing;
  Record& record = own.records[place];
  own.tasks[place] = (record.done == record.phases.arrived ? 0 : own.tasks[place]) + (end - begin);
  record.done = end;
}

// (P1) release; pairs with (P2) in find_shape(). Publishes the whole tree.
void RecordedTeam::add_shape(std::unique_ptr<const Shape> shape) {
  const Shape* added = all_shapes_.emplace_back(std::move(shape)).get();
  shapes_[(all_shapes_.size() - 1) % shapes_.size()].store(added, std::memory_order_release);
}

// (P2) acquire; pairs with (P1) in add_shape().
const Shape* RecordedTeam::find_shape(std::uint64_t serial) const noexcept {
  for (const std::atomic<const Shape*>& slot : shapes_) {
    const Shape* shape = slot.load(std::memory_order_acquire);
    if (shape != nullptr && shape->serial == serial) return shape;
  }
  return nullptr;
}

void RecordedTeam::use_wait(Participant& own) noexcept {
  // Other threads have read the next records when they summarised. Three are fetched, because not
  // every barrier has a wait.
  for (int i = 1; i < 4; ++i) fetch_to_write(&own.records[(own.episodes + i) % kRing]);
  const std::uint32_t size = size_;
  const std::uint64_t most_shares = size <= kSmallTeam ? 2 : 0;
  // One more for each kBehind episodes that the thread is behind, because the last thread in a
  // barrier does not wait.
  for (std::uint64_t i = 0;
       i < most_shares && own.next_share + kSummaryLag + kBehind * i < own.episodes;
       ++i, own.next_share += size) {
    fetch(own.next_share + size);
    summarise(own.next_share, own);
  }
  for (std::uint64_t i = 0; i < 3 && own.accounted + kAccountLag + kBehind * i < own.episodes;
       ++i, ++own.accounted) {
    if (!summaries_[own.accounted % kRing].is_of(own.accounted)) return;
    fetch_to_read(&summaries_[(own.accounted + 2) % kRing]);
    account(own.accounted, own);
  }
}

// Works up to the last batch that is due.
void RecordedTeam::do_due_work(Participant& own) {
  const auto end_of_due = [&](std::uint64_t delay) {
    return own.episodes < delay ? 0 : (own.episodes - delay) / kBatch * kBatch;
  };
  if (const std::uint64_t end = end_of_due(kSummarisedBy); own.next_share < end) {
    for (std::uint64_t episode = own.next_share; episode < end; episode += size_) fetch(episode);
    for (; own.next_share < end; own.next_share += size_) summarise(own.next_share, own);
  }
  if (const std::uint64_t end = end_of_due(kAccountedBy); own.accounted < end) {
    own.accounted = std::max(own.accounted, end - kBatch);
    for (std::uint64_t episode = own.accounted; episode < end; ++episode)
      fetch_to_read(&summaries_[episode % kRing]);
    for (; own.accounted < end; ++own.accounted) account(own.accounted, own);
  }
  const std::uint64_t place = own.episodes % kBatch;
  const std::uint64_t next = place < kSummarisedBy  ? kSummarisedBy
                             : place < kAccountedBy ? kAccountedBy
                                                    : kBatch + kSummarisedBy;
  own.work_is_due = own.episodes - place + next;
}

// Prefetches what summarise() will need.
void RecordedTeam::fetch(std::uint64_t episode) const noexcept {
  fetch_to_write(&summaries_[episode % kRing]);
  for (std::uint32_t i = 0; i < size_; ++i) {
    const Participant* other = participant(i);
    if (other != nullptr) fetch_to_read(&other->records[episode % kRing]);
  }
}

void RecordedTeam::flush() {
  Participant* primary = participant(0);
  if (primary == nullptr) return;
  const std::uint64_t end = primary->episodes;
  const std::uint64_t begin = end > kRing ? end - kRing : 0;
  for (std::uint64_t episode = begin; episode < end; ++episode) summarise(episode, *primary);
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    Participant* own = participant(i);
    if (own == nullptr) continue;
    for (std::uint64_t episode = std::max(own->accounted, begin); episode < end; ++episode)
      account(episode, *own);
    own->next_share = own->accounted = end;
  }
}

void RecordedTeam::forget() {
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (Participant* own = participant(i)) own->tables = {};
  }
}

// ---- 2. summarise ----

bool RecordedTeam::is_disturbed(std::uint64_t episode) const noexcept {
  const std::uint64_t place = episode % kBatch;
  return every_ == 1 && episode >= kBatch && (place == kSummarisedBy || place == kAccountedBy);
}

// Here and in account() there are no branches on who came last. The processor cannot predict that
// (docs/design/reports.md#d0053).
inline RecordedTeam::Episode RecordedTeam::look_at(std::uint64_t episode) const noexcept {
  const std::uint64_t place = episode % kRing;
  const Record& first = participant(0)->records[place];
  const std::uint32_t size = first.team_size;
  Episode seen;
  seen.shape = first.phases.shape;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Participant* thread = participant(i);
    if (thread == nullptr || thread->records[place].episode != episode + 1) return seen;
    const Record& record = thread->records[place];
    const std::uint64_t done = record.done;
    seen.last_thread = done > seen.last ? i : seen.last_thread;
    seen.last = std::max(seen.last, done);
    seen.finish = std::max<std::uint64_t>(seen.finish, record.phases.released);
    const bool differs = ((done ^ record.phases.arrived) | (record.phases.shape ^ seen.shape)) != 0;
    seen.shape = differs ? 0 : seen.shape;
  }
  seen.complete = true;
  return seen;
}

void RecordedTeam::summarise(std::uint64_t episode, Participant& own) {
  Summary& summary = summaries_[episode % kRing];
  if (summary.is_of(episode)) return;
  const Episode seen = look_at(episode);
  const bool counts = seen.complete && !is_disturbed(episode);
  // The primary's record names the site: libomp gives the address of a region's end only to the
  // primary.
  const Record& first = participant(0)->records[episode % kRing];
  const Site site{first.address, first.kind, first.team_size};
  summary.set_site(site);
  summary.last = seen.last;
  summary.last_thread = counts ? seen.last_thread : kNobody;
  summary.publish(episode);
  Losses& losses = own.tables.losses;
  if (!counts) {
    ++(seen.complete ? losses.left_out : losses.incomplete);
    return;
  }
  if (seen.finish == 0) return;
  const bool is_backwards = seen.finish < seen.last;
  if (is_backwards) ++losses.backwards;
  const std::uint64_t span = is_backwards ? 0 : seen.finish - seen.last;
  BarrierTimes& times = own.tables.barriers.at(site);
  times.span.add(clock_.to_ns(span));
  if (seen.shape != 0 && !is_backwards) add_levels(episode, seen.shape, span, own, times);
}

void RecordedTeam::add_levels(std::uint64_t episode, std::uint64_t serial, std::uint64_t span,
                              Participant& own, BarrierTimes& times) {
  if (own.shape == nullptr || own.shape->serial != serial) own.shape = find_shape(serial);
  const Shape* shape = own.shape;
  if (shape == nullptr) return;
  if (times.levels == nullptr) times.levels = std::make_unique<LevelTimes>();
  times.shape = shape;
  if (shape->num_levels == 0) {
    times.levels->add_exchange(clock_.to_ns(span));
    return;
  }
  own.of_all.clear();
  for (std::uint32_t i = 0; i < shape->parents.size(); ++i)
    own.of_all.push_back(&participant(i)->records[episode % kRing].phases);
  if (!add_episode(*times.levels, *shape, own.of_all, span, clock_)) ++own.tables.losses.backwards;
}

// ---- 3. account ----

void RecordedTeam::account(std::uint64_t episode, Participant& own) {
  const Record& record = own.records[episode % kRing];
  const Summary& summary = summaries_[episode % kRing];
  if (record.episode != episode + 1) return;
  // If the team has just become smaller, no thread has taken this share.
  const bool is_summarised = summary.is_of(episode);
  if (!is_summarised && own.me == 0) ++own.tables.losses.incomplete;
  if (!is_summarised || summary.last_thread == kNobody) return;
  ThreadTimes& times = own.tables.threads.at(summary.site());
  const std::uint64_t last = summary.last, arrived = record.phases.arrived,
                      released = record.phases.released;
  std::uint64_t wait = last > arrived ? last - arrived : 0;
  if (record.done != arrived) [[unlikely]] {
    const std::uint64_t tasks = own.tasks[episode % kRing];
    times.tasks_ns += clock_.to_ns(tasks);
    wait -= std::min(wait, tasks);
  }
  times.imbalance.add(clock_.to_ns(wait));
  if (released != 0) times.sync.add(clock_.to_ns(released > last ? released - last : 0));
  times.last_arrivals += summary.last_thread == own.me ? 1 : 0;
}

const RecordedTeam::Tables* RecordedTeam::tables(std::uint32_t me) const noexcept {
  const Participant* own = me < capacity_ ? participant(me) : nullptr;
  return own == nullptr ? nullptr : &own->tables;
}

}  // namespace hierbar::report
