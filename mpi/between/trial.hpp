// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar::mpi {

// The trial of several ways for the leaders to meet, as one leader runs it. Way 0 is the MPI
// library's barrier.
//
// 1. In the first kNumMeetings meetings the ways take turns. Each leader notes how long it was in
//    each of them.
// 2. The leaders put the least time of each meeting together, with one reduction. It is about what
//    the meeting costs whoever comes last; no clocks are compared.
// 3. Each leader judges these times, which are the same in all, so the verdict is the same too.
//
// Whose turn it is depends on the number of the meeting only, so all leaders agree on it.
class Trial {
 public:
  static constexpr std::size_t kNumMeetings = 32;
  // A schedule must be so much better than the library to replace it.
  static constexpr double kNeededGain = 0.05;
  using Times = std::array<long long, kNumMeetings>;  // nanoseconds

  struct Verdict {
    std::size_t way = 0;
    std::vector<double> medians_us;  // of each way
  };

  // Requires 2 to 4 ways.
  explicit Trial(std::size_t num_ways) : num_ways_(num_ways) {}

  bool has_ended() const noexcept { return meeting_ == kNumMeetings; }
  // Whose turn it is. Requires that the trial has not ended.
  std::size_t way() const noexcept { return meeting_ % num_ways_; }
  void note(long long spent_ns) noexcept { times_[meeting_++] = spent_ns; }
  const Times& times() const noexcept { return times_; }

  // `least` has the least time of all leaders for each meeting. Each way's first turn does not
  // count: in it the library connects the processes.
  Verdict judge(const Times& least) const;

 private:
  std::size_t num_ways_;
  std::size_t meeting_ = 0;
  Times times_{};
};

}  // namespace hierbar::mpi
