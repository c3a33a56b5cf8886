// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/labelled_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace hierbar {

std::string LabelledLines::take(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t room = kMostBytes - rest_.size();
    const std::size_t size = std::min({end, text.size(), room});
    rest_.append(text.substr(0, size));
    text.remove_prefix(size);
    const bool is_whole = !text.empty() && text.front() == '\n';
    if (is_whole) text.remove_prefix(1);
    if (is_whole || rest_.size() == kMostBytes) lines += label_ + std::exchange(rest_, {}) + '\n';
  }
  return lines;
}

std::string LabelledLines::finish() {
  return rest_.empty() ? "" : label_ + std::exchange(rest_, {}) + '\n';
}

void OutputQueue::push(int file, std::string text) {
  if (text.empty()) return;
  num_bytes_ += text.size();
  parts_.push_back({file, std::move(text)});
}

int OutputQueue::write_some() {
  Part& part = parts_.front();
  const std::size_t left = part.text.size() - written_;
  const ssize_t size =
      write(part.file, part.text.data() + written_, std::min<std::size_t>(left, PIPE_BUF));
  if (size < 0) {
    if (errno == EINTR || errno == EAGAIN) return 0;
    const int error = errno;
    drop(part.file);
    return error;
  }
  written_ += static_cast<std::size_t>(size);
  if (written_ < part.text.size()) return 0;
  num_bytes_ -= part.text.size();
  parts_.pop_front();
  written_ = 0;
  return 0;
}

void OutputQueue::drop(int file) {
  if (!parts_.empty() && parts_.front().file == file) written_ = 0;
  std::erase_if(parts_, [&](const Part& part) { return part.file == file; });
  num_bytes_ = 0;
  for (const Part& part : parts_) num_bytes_ += part.text.size();
}

}  // namespace hierbar
