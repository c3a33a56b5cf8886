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

#include "report/levels.hpp"
#include "report/tables.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::report {

// One thread in one episode of a barrier; times in ticks. It fills one cache line, because other
// threads read it.
struct alignas(64) Record {
  Relaxed<std::uint64_t> episode;  // the episode's number + 1; 0: none
  // When the thread had nothing left to do: its arrival, or the end of its last task.
  Relaxed<std::uint64_t> done;
  Phases phases;
  Relaxed<const void*> address;
  Relaxed<std::uint32_t> kind;
  Relaxed<std::uint32_t> team_size;
};
static_assert(sizeof(Record) == 64);

// Decides which of a thread's barriers are recorded: the first one, and then one in `every_`. All
// threads of a team come to the same decisions.
class Countdown {
 public:
  // Must be called once for each barrier. Returns whether the barrier is to be recorded.
  bool is_over() noexcept {
    if (left_ != 0) {
      --left_;
      return false;
    }
    left_ = every_ - 1;
    return true;
  }

 private:
  friend class RecordedTeam;
  std::uint64_t left_ = 0;  // barriers until the next one that is recorded
  std::uint64_t every_ = 1;
};

// The number of episodes that were not counted, by reason.
struct Losses {
  std::uint64_t left_out = 0;    // the tool itself had worked just before
  std::uint64_t incomplete = 0;  // not all threads took part, for example after a cancellation
  std::uint64_t backwards = 0;   // a release before the last arrival: the cpus' clocks differ
};

// The records and figures of a team of up to `capacity` threads. If `every` is above 1, only one
// barrier in `every` is recorded. An episode goes through three steps:
//
// 1. record: each thread writes a record into its own ring, and nothing else. All threads of a team
//    pass the same barriers, so they number the episodes alike.
// 2. summarise: who arrived last, and when did the last thread leave? Each thread answers that for
//    its share of the episodes.
// 3. account: each thread adds up its own records, with the help of the summaries.
//
// So the work for an episode is O(1) for each thread, whatever the team's size, and takes no lock.
// A small team does it in its waits, a few episodes at a time (use_wait()). There it costs nothing
// as long as it takes no longer than the wait. What is left is done in batches by threads that
// leave a barrier (catch_up()). The episode after such a batch measures the batch, so it is left
// out of the statistics. See docs/design/reports.md#d0052 and 0053.
//
// Thread safety: a participant's functions are called by its own thread only. No thread reads what
// another one may still write; kRing says why.
//
// Memory ordering: records and pointers to participants are relaxed, because the recorded barriers
// order them (Relaxed in levels.hpp). Summaries are published by (P3) and (P4), trees by (P1) and
// (P2).
class RecordedTeam {
 public:
  static constexpr std::uint64_t kBatch = 64;

  struct Participant;

  struct Tables {
    SiteTable<ThreadTimes> threads;
    SiteTable<BarrierTimes> barriers;
    Losses losses;
  };

  RecordedTeam(std::uint32_t capacity, std::uint64_t every, const TraceClock& clock);
  ~RecordedTeam();
  RecordedTeam(const RecordedTeam&) = delete;
  RecordedTeam& operator=(const RecordedTeam&) = delete;

  std::uint32_t capacity() const noexcept { return capacity_; }

  // The primary calls these before and after a region, when nobody else is in the team.
  void begin_region() noexcept;
  void end_region();

  // Each thread calls this first when it has come into a region of `size` threads.
  Participant& enter(std::uint32_t me, std::uint32_t size);

  // The cpus on which a thread may run. The thread sets them when it has come for the first time.
  // Empty: not known.
  void set_cpus(std::uint32_t me, std::string cpus);
  const std::string& cpus(std::uint32_t me) const noexcept;

  // Each thread calls this at a barrier that is recorded. The caller stamps the record.
  Record& open(Participant& own, const void* address, std::uint32_t kind) noexcept;
  // Adds a task that the thread ran in the barrier that it opened last.
  static void add_task(Participant& own, std::uint64_t begin, std::uint64_t end) noexcept;

  // The trees of the barriers, if the runtime reports them. The primary adds them when it has come
  // into a region. find_shape() returns null for an unknown tree.
  const Shape* find_shape(std::uint64_t serial) const noexcept;
  void add_shape(std::unique_ptr<const Shape> shape);
  std::vector<std::uint32_t>& primarys_scratch() noexcept { return scratch_; }

  // Each thread calls this in the barrier that it opened last, if it has to wait for others. Takes
  // about 100 ns.
  void use_wait(Participant& own) noexcept;

  // Each thread calls this when all others have come to the barrier that it was in last.
  void catch_up(Participant& own);

  // Summarises and accounts all that is left. Requires that nobody is in the team.
  void flush();

  // Forgets all figures. Requires that nobody is in the team, and that flush() was called.
  void forget();

  // The figures of a thread. Null if it has never come.
  const Tables* tables(std::uint32_t me) const noexcept;

 private:
  // The ring of records holds two batches. When a thread has recorded kSummarisedBy episodes after
  // a batch, its share of the batch is summarised; kAccountedBy episodes after the batch, its own
  // records are accounted. A thread in episode e knows that all threads have left episode e - 2.
  // Two conclusions follow. All summaries of a batch exist when somebody accounts it. And nobody
  // reads a batch any more when, two batches later, its places are written again.
  static constexpr std::uint64_t kRing = 2 * kBatch;
  static constexpr std::uint64_t kSummarisedBy = kBatch / 2;
  static constexpr std::uint64_t kAccountedBy = kBatch - 2;
  static_assert(kSummarisedBy + 2 <= kAccountedBy && kAccountedBy + 2 <= kBatch);
  // How many episodes use_wait() stays behind. By then the lines that it reads are not being
  // written any more, so they can be prefetched one episode ahead.
  static constexpr std::uint64_t kSummaryLag = 8;
  static constexpr std::uint64_t kAccountLag = 24;
  static constexpr std::uint64_t kBehind = 8;  // for each kBehind episodes more, it does one more
  static constexpr std::uint32_t kSmallTeam = 8;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct alignas(64) Summary {
    std::atomic<std::uint64_t> episode{0};  // as in Record
    Relaxed<std::uint64_t> last;
    Relaxed<std::uint32_t> last_thread;  // kNobody: the episode does not count
    Relaxed<std::uint32_t> kind;
    Relaxed<std::uint32_t> team_size;
    Relaxed<const void*> address;

    // (P3) release; pairs with (P4). Publishes the other members.
    void publish(std::uint64_t number) noexcept {
      episode.store(number + 1, std::memory_order_release);
    }
    // (P4) acquire; pairs with (P3).
    bool is_of(std::uint64_t number) const noexcept {
      return episode.load(std::memory_order_acquire) == number + 1;
    }
    void set_site(const Site& site) noexcept {
      address = site.address;
      kind = site.kind;
      team_size = site.team_size;
    }
    Site site() const noexcept { return {address, kind, team_size}; }
  };

  // The result of reading all records of one episode.
  struct Episode {
    // 0: the threads went through different trees, or some thread ran tasks.
    std::uint64_t shape = 0;
    std::uint64_t last = 0;    // the last arrival
    std::uint64_t finish = 0;  // the last release; 0: not known
    std::uint32_t last_thread = kNobody;
    bool complete = false;
  };

  Participant* participant(std::uint32_t me) const noexcept {
    return participants_[me].load(std::memory_order_relaxed);
  }
  static std::uint64_t first_of_share(std::uint32_t me, std::uint32_t size,
                                      std::uint64_t begin) noexcept;
  void do_due_work(Participant& own);
  void fetch(std::uint64_t episode) const noexcept;
  Episode look_at(std::uint64_t episode) const noexcept;
  void summarise(std::uint64_t episode, Participant& own);
  void add_levels(std::uint64_t episode, std::uint64_t serial, std::uint64_t span, Participant& own,
                  BarrierTimes& times);
  void account(std::uint64_t episode, Participant& own);
  bool is_disturbed(std::uint64_t episode) const noexcept;

  const std::uint32_t capacity_;
  const std::uint64_t every_;
  const TraceClock& clock_;
  Relaxed<std::uint32_t> size_;           // threads in the region
  Relaxed<std::uint64_t> left_at_first_;  // where the countdowns start
  Relaxed<std::uint64_t> first_episode_;
  // Each thread makes its own participant, so that its records are on its own NUMA node.
  std::unique_ptr<std::atomic<Participant*>[]> participants_;
  std::array<Summary, kRing> summaries_;

  // The last 16 trees. Only the primary adds one, in place of the oldest; the other threads search
  // for a number. A tree lives as long as the team.
  std::array<std::atomic<const Shape*>, 16> shapes_{};
  std::vector<std::unique_ptr<const Shape>> all_shapes_;
  std::vector<std::uint32_t> scratch_;
};

// One thread of a team. Other threads read its records, and nothing else of it.
struct alignas(128) RecordedTeam::Participant {
  explicit Participant(std::uint32_t number) : me(number) {}

  const std::uint32_t me;
  Countdown until_record;         // decides which barriers to open
  std::uint64_t episodes = 0;     // number of episodes that it has recorded
  std::uint64_t next_share = 0;   // the next episode that it summarises
  std::uint64_t accounted = 0;    // all episodes below are accounted
  std::uint64_t work_is_due = 0;  // do_due_work() is due at this number of episodes
  const Shape* shape = nullptr;   // the last tree that it looked up
  std::string cpus;
  Tables tables;
  std::array<Record, kRing> records;
  // Time in tasks. Valid only for records whose `done` is later than their arrival.
  std::array<std::uint64_t, kRing> tasks;
  // Phases of all threads in one episode. Kept here, so that summarising does not allocate.
  std::vector<const Phases*> of_all;
};

inline Record& RecordedTeam::open(Participant& own, const void* address,
                                  std::uint32_t kind) noexcept {
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

inline void RecordedTeam::catch_up(Participant& own) {
  if (own.episodes >= own.work_is_due) do_due_work(own);
}

}  // namespace hierbar::report
