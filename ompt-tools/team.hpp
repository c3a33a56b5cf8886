// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ompt-tools/levels.hpp"
#include "ompt-tools/relaxed.hpp"
#include "ompt-tools/tables.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::ompt {

// One thread in one episode of a barrier, in ticks. One line, since the others read it.
struct alignas(64) Record {
  Relaxed<std::uint64_t> episode;  // 1 + its number, so that 0 is none
  Relaxed<std::uint64_t> done;     // it had nothing left to do: its arrival, or the end of the last task
  Phases phases;
  Relaxed<const void*> address;
  Relaxed<std::uint32_t> kind;
  Relaxed<std::uint32_t> team_size;
};
static_assert(sizeof(Record) == 64);

// Which of a thread's barriers are recorded: the first, and then one in so many. The threads of a team count alike.
class Countdown {
 public:
  // Once for each barrier; whether it is to be recorded.
  bool is_over() noexcept {
    if (left_ != 0) {
      --left_;
      return false;
    }
    left_ = every_ - 1;
    return true;
  }

 private:
  friend class Team;
  std::uint64_t left_ = 0;  // barriers until the next that is recorded
  std::uint64_t every_ = 1;
};

// How many episodes were not counted, and why.
struct Losses {
  std::uint64_t left_out = 0;    // the tool's own work had come just before
  std::uint64_t incomplete = 0;  // not every thread took part, as after a cancellation
  std::uint64_t backwards = 0;   // a release before the last arrival: the clocks of two processors differ
};

// The barriers of a team of up to `capacity` threads: a ring of records for each thread, and what was made of them.
//
//   1. record     every thread writes its own records and nothing else. All threads of a team pass the same barriers, so the
//                 number of an episode is the same for all.
//   2. summarise  who arrived last, and when the last one left, is worked out by the threads together, each for its share of the
//                 episodes.
//   3. account    each thread adds its own records up, with what the summaries say.
//
// So the work for an episode is O(1) for each thread whatever the team's size, and takes no lock. A small team does it while it
// waits (use_wait), a few episodes at a time, where it costs nothing as long as it takes no longer than the wait. What is not
// done by then is done in batches by a thread that leaves a barrier, and the episode after that is left out of the statistics,
// since it measures the work.
//
// Why nobody reads what may still be written: see kRing.
//
// With every > 1 only one barrier in so many is recorded.
class Team {
 public:
  static constexpr std::uint64_t kBatch = 64;

  struct Participant;

  struct Tables {
    SiteTable<ThreadTimes> threads;
    SiteTable<BarrierTimes> barriers;
    Losses losses;
  };

  Team(std::uint32_t capacity, std::uint64_t every, const TraceClock& clock);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::uint32_t capacity() const noexcept { return capacity_; }

  // The primary, before a region and after it; nobody else is in the team then.
  void begin_region() noexcept;
  void end_region();

  // Each thread, when it has come into the region, which has `size` threads; before anything else.
  Participant& enter(std::uint32_t me, std::uint32_t size);

  // Where each thread may run, told by itself when it has come for the first time; empty: not told.
  void set_cpus(std::uint32_t me, std::string cpus);
  const std::string& cpus(std::uint32_t me) const noexcept;

  // Each thread at a barrier that is recorded. Returns the record, to be stamped by the caller.
  Record& open(Participant& own, const void* address, std::uint32_t kind) noexcept;
  // A task that it ran in the barrier that it opened last.
  static void add_task(Participant& own, std::uint64_t begin, std::uint64_t end) noexcept;

  // The trees of the barriers, where the runtime tells them: the primary, when it has come into a region.
  // find_shape: null when it is not known.
  const Shape* find_shape(std::uint64_t serial) const noexcept;
  void add_shape(std::unique_ptr<const Shape> shape);
  std::vector<std::uint32_t>& primarys_scratch() noexcept { return scratch_; }

  // Each thread, in the barrier that it opened last, when it has to wait for others. Takes some 100 ns.
  void use_wait(Participant& own) noexcept;

  // Each thread, when all others have come to the last barrier that it was in.
  void catch_up(Participant& own);

  // Summarises and accounts all that is left. Nobody may be in the team.
  void flush();

  // Forgets all figures. Nobody may be in the team, and it must have been flushed.
  void forget();

  // By thread; null for one that never came.
  const Tables* tables(std::uint32_t me) const noexcept;

 private:
  // The ring of records. A batch is summarised at the latest when an episode kSummarisedBy after its end is left, and accounted
  // kAccountedBy after it. Whoever is in episode e knows that all have left episode e - 2. So all summaries of the batch are
  // there when they are due to be read, and nobody reads its records or summaries any more when two batches later their places
  // are written again.
  static constexpr std::uint64_t kRing = 2 * kBatch;
  static constexpr std::uint64_t kSummarisedBy = kBatch / 2;
  static constexpr std::uint64_t kAccountedBy = kBatch - 2;
  static_assert(kSummarisedBy + 2 <= kAccountedBy && kAccountedBy + 2 <= kBatch);
  // How far use_wait() stays behind, so that the lines it reads have been left alone for a while and can be fetched one episode
  // ahead.
  static constexpr std::uint64_t kSummaryLag = 8;
  static constexpr std::uint64_t kAccountLag = 24;
  static constexpr std::uint64_t kBehind = 8;  // for each of these it does one more
  static constexpr std::uint32_t kSmallTeam = 8;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct alignas(64) Summary {
    std::atomic<std::uint64_t> episode{0};  // as in Record
    Relaxed<std::uint64_t> last;
    Relaxed<std::uint32_t> last_thread;  // kNobody: the episode does not count
    Relaxed<std::uint32_t> kind;
    Relaxed<std::uint32_t> team_size;
    Relaxed<const void*> address;

    // (P3) release: what was written before is there for whom (P4) tells so.
    void publish(std::uint64_t number) noexcept { episode.store(number + 1, std::memory_order_release); }
    // (P4) acquire, pairs with (P3).
    bool is_of(std::uint64_t number) const noexcept { return episode.load(std::memory_order_acquire) == number + 1; }
    void set_site(const Site& site) noexcept {
      address = site.address;
      kind = site.kind;
      team_size = site.team_size;
    }
    Site site() const noexcept { return {address, kind, team_size}; }
  };

  // What the records of one episode come to.
  struct Episode {
    std::uint64_t shape = 0;   // 0: not everybody went through the same tree, or somebody ran tasks
    std::uint64_t last = 0;    // arrival
    std::uint64_t finish = 0;  // the last release; 0: not told
    std::uint32_t last_thread = kNobody;
    bool complete = false;
  };

  Participant* participant(std::uint32_t me) const noexcept { return participants_[me].load(std::memory_order_relaxed); }
  static std::uint64_t first_of_share(std::uint32_t me, std::uint32_t size, std::uint64_t begin) noexcept;
  void do_due_work(Participant& own);
  void fetch(std::uint64_t episode) const noexcept;
  Episode look_at(std::uint64_t episode) const noexcept;
  void summarise(std::uint64_t episode, Participant& own);
  void add_levels(std::uint64_t episode, std::uint64_t serial, std::uint64_t span, Participant& own, BarrierTimes& times);
  void account(std::uint64_t episode, Participant& own);
  bool is_disturbed(std::uint64_t episode) const noexcept;

  const std::uint32_t capacity_;
  const std::uint64_t every_;
  const TraceClock& clock_;
  Relaxed<std::uint32_t> size_;           // of the region
  Relaxed<std::uint64_t> left_at_first_;  // of the countdowns
  Relaxed<std::uint64_t> first_episode_;
  // Written by the thread itself, so that its records are on its own node.
  std::unique_ptr<std::atomic<Participant*>[]> participants_;
  std::array<Summary, kRing> summaries_;

  // Only the primary adds, and takes the oldest one's place when all are used; the others find by number. Never freed before the
  // team is.
  std::array<std::atomic<const Shape*>, 16> shapes_{};
  std::vector<std::unique_ptr<const Shape>> all_shapes_;
  std::vector<std::uint32_t> scratch_;
};

// One thread of a team. Others read its records and nothing else.
struct alignas(128) Team::Participant {
  explicit Participant(std::uint32_t number) : me(number) {}

  const std::uint32_t me;
  Countdown until_record;         // says which barriers to open
  std::uint64_t episodes = 0;     // it has recorded
  std::uint64_t next_share = 0;   // the next episode to summarise
  std::uint64_t accounted = 0;    // episodes below are done
  std::uint64_t work_is_due = 0;  // when so many are recorded
  const Shape* shape = nullptr;   // that it met last
  std::string cpus;
  Tables tables;
  std::array<Record, kRing> records;
  std::array<std::uint64_t, kRing> tasks;  // how long it ran them; of records that are done later than arrived only
  std::vector<const Phases*> of_all;       // of one episode; kept, so that summarising allocates nothing
};

inline Record& Team::open(Participant& own, const void* address, std::uint32_t kind) noexcept {
  Record& record = own.records[own.episodes % kRing];
  record.episode = ++own.episodes;
  record.phases.gathered = 0;
  record.phases.released = 0;
  record.phases.shape = 0;
  record.address = address;
  record.kind = kind;
  record.team_size = size_;
  return record;
}

inline void Team::catch_up(Participant& own) {
  if (own.episodes >= own.work_is_due) do_due_work(own);
}

}  // namespace hierbar::ompt
