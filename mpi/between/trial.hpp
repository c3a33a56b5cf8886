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
// 1. In the first kNumMeetings meetings the methods take turns. Each leader records how long it was
//    in each of them.
// 2. The leaders put the least time of each meeting together, with one reduction, which is the
//    next meeting. It is about what the meeting costs whoever comes last; no clocks are compared.
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
    std::size_t method = 0;
    std::vector<double> medians_us;  // of each method
  };

  // Requires 2 to 4 methods.
  explicit Trial(std::size_t num_methods) : num_methods_(num_methods) {}

  bool has_ended() const noexcept { return meeting_ == kNumMeetings; }
  // Whose turn it is. Requires that the trial has not ended.
  std::size_t method() const noexcept { return meeting_ % num_methods_; }
  void record(long long spent_ns) noexcept { times_[meeting_++] = spent_ns; }
  const Times& times() const noexcept { return times_; }

  // `least` has the least time of all leaders for each meeting. Each method's first turn does not
  // count: in it the library connects the processes.
  Verdict judge(const Times& least) const;

 private:
  std::size_t num_methods_;
  std::size_t meeting_ = 0;
  Times times_{};
};

}  // namespace hierbar::mpi
