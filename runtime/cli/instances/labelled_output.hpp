// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace hierbar {

// Cuts what one stream brings into lines, each behind the same label.
class LabelledLines {
 public:
  // Longer lines are cut, so that a program that writes none does not fill the memory.
  static constexpr std::size_t kMostBytes = 1U << 20;

  explicit LabelledLines(std::string label) : label_(std::move(label)) {}

  // The lines that `text` completes, with their labels. The rest is kept.
  std::string take(std::string_view text);
  // The rest as a line; empty if there is none.
  std::string finish();

 private:
  std::string label_;
  std::string rest_;
};

// Lines on their way to stdout and stderr. There is one queue for both, because both may be one
// file, and a line must not begin inside another one.
//
// No write waits for a slow reader: it follows a poll() of file(), and writes as much as a pipe
// takes when poll() reports room in it.
class OutputQueue {
 public:
  // Above that, nothing more should be read from those whose output this is, so that a slow reader
  // slows them down as it would without a queue.
  static constexpr std::size_t kMostBytes = 1U << 16;

  void push(int file, std::string text);

  bool empty() const { return parts_.empty(); }
  bool is_full() const { return num_bytes_ >= kMostBytes; }
  // Where the next bytes go; -1 if there are none.
  int file() const { return parts_.empty() ? -1 : parts_.front().file; }

  // Writes some bytes to file(), which is ready. Returns 0, or the error after which nothing can be
  // written there: what waits for this file is then dropped. Requires that it is not empty.
  int write_some();
  // Drops all that waits for `file`.
  void drop(int file);

 private:
  struct Part {
    int file;
    std::string text;
  };
  std::deque<Part> parts_;
  std::size_t written_ = 0;  // of the first part
  std::size_t num_bytes_ = 0;
};

}  // namespace hierbar
