// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace hierbar::bench {

// Says on stderr what is being measured and how long the rest will take: on a terminal in one line
// that changes, otherwise in a line every few seconds, for logs.
class Progress {
 public:
  // `limit_s`: no longer than this will it take; 0 if nobody knows.
  explicit Progress(std::size_t num_blocks, double limit_s = 0)
      : num_blocks_(num_blocks), limit_s_(limit_s) {}

  // Must be called before each block.
  void block(const std::string& stage, const std::string& what) {
    const double elapsed = seconds();
    ++num_started_;
    std::string text = fmt::format("[{}/{}] {}: {}", num_started_,
                                   std::max(num_blocks_, num_started_), stage, what);
    if (num_started_ > num_blocks_ / 10 && num_started_ > 1 && num_started_ <= num_blocks_) {
      double left = elapsed / static_cast<double>(num_started_ - 1) *
                    static_cast<double>(num_blocks_ - num_started_ + 1);
      if (limit_s_ > 0) left = std::clamp(limit_s_ - elapsed, 0.0, left);
      text += fmt::format(", about {:.0f} s left", left);
    }
    note(text);
  }

  // Anything else that takes time.
  void note(const std::string& text) {
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}", text);
    } else if (const double elapsed = seconds(); elapsed >= next_line_s_) {
      fmt::print(stderr, "{}\n", text);
      next_line_s_ = elapsed + kSecondsBetweenLines;
    }
    std::fflush(stderr);
  }

  // Removes the line from a terminal.
  void finish() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

  // Since the start.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSecondsBetweenLines = 5;

  const std::size_t num_blocks_;
  const double limit_s_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const Clock::time_point start_ = Clock::now();
  std::size_t num_started_ = 0;
  double next_line_s_ = 0;
};

}  // namespace hierbar::bench
