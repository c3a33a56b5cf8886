// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar::mpi {

// The trial of several methods of meeting, as one leader runs it. Method 0 is the MPI library's
// barrier.
//
// 1. In the first kNumMeetings meetings the methods take turns, kTurn meetings at a time. Each
//    leader records when it enters and leaves each of them.
// 2. The leaders put their records together, with one reduction, which is the next meeting.
// 3. Each leader judges the result, which is the same in all, so the verdict is the same too.
//
// A leader's period is the time from one exit to the next. The cost of a meeting is the mean of the
// shortest and the longest period, less the longest time that a leader was outside. So neither the
// program's work counts nor the waiting for whoever is late, and no clocks are compared. A method
// may let some leaders go before others, which shifts their next periods. So only meetings count
// that follow one of the same method.
//
// Whose turn it is depends on the number of the meeting only, so all leaders agree on it.
class Trial {
 public:
  static constexpr std::size_t kNumMeetings = 32;
  static constexpr std::size_t kTurn = 4;
  // A schedule must be so much better than the library to replace it.
  static constexpr double kNeededGain = 0.05;

  // One leader's times of each meeting, in nanoseconds. The trial needs the least values over all
  // leaders, the largest being the least of the negative ones.
  struct Times {
    std::array<long long, kNumMeetings> period, minus_period, minus_outside;
  };

  struct Verdict {
    std::size_t method = 0;
    std::vector<double> medians_us;  // the cost of each method
  };

  // Requires 2 to 4 methods.
  explicit Trial(std::size_t num_methods) : num_methods_(num_methods) {}

  bool has_ended() const noexcept { return meeting_ == kNumMeetings; }
  // Whose turn it is. Requires that the trial has not ended.
  std::size_t method() const noexcept { return method_of(meeting_); }
  // One meeting; both times by one clock of this leader.
  void record(long long enters_ns, long long leaves_ns) noexcept;
  const Times& times() const noexcept { return times_; }

  // `least` has the least values of all leaders.
  Verdict judge(const Times& least) const;

 private:
  std::size_t method_of(std::size_t meeting) const noexcept { return meeting / kTurn % num_methods_; }

  std::size_t num_methods_;
  std::size_t meeting_ = 0;
  long long last_left_ns_ = 0;
  Times times_{};
};

}  // namespace hierbar::mpi
