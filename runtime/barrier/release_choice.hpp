// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

namespace hierbar {

// Whether participant 0 of an oversubscribed team should release the others itself, in place of the
// last to arrive (docs/design/regions.md#d0117).
//
// The last one to arrive goes on at once, and so do others, while participant 0 waits for a cpu.
// That is right if they then compute. If they poll for something that only participant 0 will do,
// and do not yield, all lose their slices. The barrier cannot tell the two cases apart. So it
// tries:
//
// 1. Participant 0 is often late in exchanges. Their time is measured.
// 2. It releases the others in a few barriers. Their time is measured too.
// 3. If they took less than half of the time each, it does so in many more. Then exchanges are
//    compared again.
// 4. Otherwise the team keeps its exchanges, and the next attempt waits longer and longer.
//
// Times are of one clock, in any unit. `exchange` counts the team's exchanges. It stands still
// while barriers are served in another way, so the same number can come again, and counts once.
// Used by participant 0 only.
class ReleaseChoice {
 public:
  // Step 1: so many late exchanges of so many. Fewer can be a disturbance.
  static constexpr std::uint64_t kLate = 16;
  static constexpr std::uint64_t kOf = 128;
  // Step 2.
  static constexpr std::uint64_t kTried = 16;
  // Step 3: in how many barriers at first. Doubled each time, because each comparison costs slices.
  static constexpr std::uint64_t kFirstSpan = 1024;
  static constexpr std::uint64_t kLongestSpan = 65'536;
  // Step 4: exchanges until the next attempt, at first. Doubled each time, because an attempt costs
  // a little. Not for long: an attempt can fail because others wanted the cpus just then.
  static constexpr std::uint64_t kFirstPatience = 256;
  static constexpr std::uint64_t kLongestPatience = 1024;

  // Whether participant 0 should release the others in the next barrier.
  bool wants_release() const noexcept { return num_left_ != 0; }

  // Participant 0 was released in this exchange, and had its cpu much later.
  void came_late(std::uint64_t now, std::uint64_t exchange) noexcept {
    if (num_left_ != 0 || exchange < next_attempt_ || exchange == last_late_) return;
    last_late_ = exchange;
    if (num_late_ == 0 || exchange - begin_exchange_ > kOf) {
      num_late_ = 0;
      begin_ = now;
      begin_exchange_ = exchange;
    }
    if (++num_late_ < kLate) return;
    num_late_ = 0;
    exchange_time_ = (now - begin_) / (exchange - begin_exchange_);
    begin_ = now;
    begin_exchange_ = exchange;
    num_left_ = kTried;
    is_trial_ = true;
  }

  // Participant 0 releases the others in this barrier, since it wants to. Returns whether it does
  // so in the next one as well.
  bool releases(std::uint64_t now) noexcept {
    if (--num_left_ == 0 && is_trial_) end_trial(now);
    return num_left_ != 0;
  }

 private:
  void end_trial(std::uint64_t now) noexcept {
    is_trial_ = false;
    const bool is_better = (now - begin_) / kTried < exchange_time_ / 2;
    if (is_better) {
      patience_ = 0;
      span_ = longer(span_, kFirstSpan, kLongestSpan);
      num_left_ = span_;
    } else {
      span_ = 0;
      patience_ = longer(patience_, kFirstPatience, kLongestPatience);
      next_attempt_ = begin_exchange_ + patience_;
    }
  }

  static std::uint64_t longer(std::uint64_t value, std::uint64_t first,
                              std::uint64_t longest) noexcept {
    return value == 0 ? first : std::min(2 * value, longest);
  }

  std::uint64_t num_left_ = 0;  // barriers in which participant 0 releases
  std::uint64_t num_late_ = 0;  // exchanges, since begin_
  std::uint64_t begin_ = 0;     // when the exchanges or the barriers of the trial began
  std::uint64_t begin_exchange_ = 0;
  std::uint64_t exchange_time_ = 0;  // of one
  std::uint64_t last_late_ = 0;      // the number of the last late exchange
  std::uint64_t next_attempt_ = 0;   // not before this exchange
  std::uint64_t span_ = 0;
  std::uint64_t patience_ = 0;
  bool is_trial_ = false;
};

}  // namespace hierbar
