// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/new_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace hierbar {

NewFile::NewFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  descriptor_ = mkstemp(temporary_.data());
  if (descriptor_ < 0) problem_ = std::strerror(errno);
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

std::string NewFile::finish(const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = write(descriptor_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::strerror(errno);
    written += static_cast<std::size_t>(count);
  }
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor_, 0666 & ~mask) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) return std::strerror(errno);
  close(std::exchange(descriptor_, -1));
  return {};
}

}  // namespace hierbar
