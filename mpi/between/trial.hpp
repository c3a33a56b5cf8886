// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpi/settings/settings.hpp"
#include "network/schedule.hpp"

namespace hierbar::mpi {

inline constexpr std::size_t kMostShortlisted = 3;

// The schedules that a trial among this many nodes compares with the MPI library's barrier, or the
// one that the setting names; none for the library alone.
struct Shortlist {
  std::vector<network::Kind> kinds;
  std::string source;  // where the costs of the network are from; empty if none were needed
  std::vector<std::string> problems;
};

// Only rank 0 of a communicator asks, and tells the others. It is worked out once for each number
// of nodes, since a program may set up thousands of communicators. Thread-safe.
const Shortlist& shortlist_for(const MeetingSetting& setting, std::uint32_t num_nodes,
                               const std::string& library);

// The trial of several methods of meeting, as one leader runs it. Method 0 is the MPI library's
// barrier.
//
// 1. A trial has rounds. In a round the methods that are left take turns, kTurn meetings at a time.
//    Each leader records when it enters and leaves each meeting.
// 2. After a round the leaders put their records together, with one reduction, which is a meeting.
// 3. Each leader judges the result, which is the same in all. It proposes a verdict, or a further
//    round with the methods that may still be best. The least proposal of all leaders counts.
//
// A leader's period is the time from one exit to the next. The cost of a meeting is the mean of the
// shortest and the longest period, less the longest time that a leader was outside. So neither the
// program's work counts nor the waiting for whoever is late, and no clocks are compared. A method
// may let some leaders go before others, which shifts their next periods. So only meetings count
// that follow one of the same method.
//
// A system that interrupts one of many leaders delays the whole meeting. With a thousand leaders
// most meetings are delayed, by an amount that differs more than the methods do. So a method loses
// only by a rank test (Mann and Whitney), which no outlier sways, and which is passed with six
// meetings each only if all costs of one are below all costs of the other. Where the test does not
// decide, a further round follows. A long trial costs little, since a method that is clearly worse
// is left out of it.
//
// Whose turn it is depends on the number of the meeting and the agreed methods only.
class Trial {
 public:
  static constexpr std::size_t kNumMeetings = 32;  // of the first round
  static constexpr std::size_t kNumFurther = 128;  // of each further round
  static constexpr std::size_t kMostFurtherRounds = 32;
  static constexpr std::size_t kMostMeetings = kNumMeetings + kMostFurtherRounds * kNumFurther;
  static constexpr std::size_t kTurn = 4;
  // A schedule must be so much better than the library to replace it, besides passing the test.
  static constexpr double kNeededGain = 0.03;

  // One leader's times of each meeting of a round, in nanoseconds. The trial needs the least values
  // over all leaders, the largest being the least of the negative ones.
  struct Times {
    std::array<long long, 3 * kNumFurther> values;

    long long& period(std::size_t meeting) noexcept { return values[3 * meeting]; }
    long long& minus_period(std::size_t meeting) noexcept { return values[3 * meeting + 1]; }
    long long& minus_outside(std::size_t meeting) noexcept { return values[3 * meeting + 2]; }
  };

  // What a leader proposes after a round: the number of a method, which ends the trial, or more
  // than all of these, a further round.
  using Proposal = long long;

  // Requires 1 to 4 methods.
  explicit Trial(std::size_t num_methods);
  // One round of this method alone, to see what it costs by now. Its verdict is this method.
  static Trial check_of(std::size_t method, std::size_t num_methods);

  static constexpr bool is_verdict(Proposal proposal) noexcept { return proposal < kFurtherRound; }

  bool has_round_ended() const noexcept { return meeting_ == num_meetings(); }
  // Whose turn it is. Requires that the round has not ended.
  std::size_t method() const noexcept { return turns_[meeting_ / kTurn % turns_.size()]; }
  // One meeting; both times by one clock of this leader.
  void record(long long enters_ns, long long leaves_ns) noexcept;
  const Times& times() const noexcept { return times_; }
  // How many of the values there are.
  std::size_t num_values() const noexcept { return 3 * num_meetings(); }

  // After a round. `least` has the least values of all leaders.
  Proposal judge(Times least);
  // Begins the round that the leaders have agreed on. Requires that this is no verdict.
  void begin_round(Proposal agreed);

  // The median cost of each method in microseconds, 0 where it is not known.
  std::vector<double> medians_us() const;
  std::size_t num_meetings_in_all() const noexcept { return num_in_all_; }

 private:
  // And one bit for each method that takes turns.
  static constexpr Proposal kFurtherRound = 1 << 8;

  std::size_t num_meetings() const noexcept {
    return num_further_ == 0 ? kNumMeetings : kNumFurther;
  }
  bool is_clearly_better(std::size_t method, std::size_t other) const;
  bool replaces_library(std::size_t method) const;
  bool is_precise(std::size_t method) const;
  std::size_t best_of(const std::vector<std::size_t>& methods) const;

  std::vector<std::vector<long long>> costs_;  // of each method, sorted after a round
  std::vector<std::size_t> turns_;             // the methods that are left
  std::size_t num_further_ = 0;
  std::size_t meeting_ = 0;  // of the round
  std::size_t num_in_all_ = 0;
  long long last_left_ns_ = 0;
  Times times_{};
};

// Cache of trial results, keyed by the set of leader processes. A later
// communicator with the same leaders starts with the verdict. Only a communicator's rank 0 looks
// here and tells the others, so they need not know the same. Thread-safe.
class Verdicts {
 public:
  // The leaders' processes, in order, as a number. Two lists of processes may have the same: then
  // one gets a verdict that does not suit it, but all of its leaders get the same one.
  static std::uint64_t key_of(const std::vector<std::uint64_t>& processes) {
    const std::string_view bytes(reinterpret_cast<const char*>(processes.data()),
                                 processes.size() * sizeof(std::uint64_t));
    return std::hash<std::string_view>{}(bytes);
  }

  // No kind: the MPI library's barrier.
  using Verdict = std::optional<network::Kind>;

  void remember(std::uint64_t key, Verdict verdict) {
    const std::lock_guard lock(mutex_);
    known_[key] = verdict;
  }
  // Empty: there was no trial.
  std::optional<Verdict> find(std::uint64_t key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional<Verdict>(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Verdict> known_;
};

}  // namespace hierbar::mpi
