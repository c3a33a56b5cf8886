// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/random_id.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

// What has the name already and is no regular file; null if a new file may take the name. Something
// may appear under the name after this check. Then rename() replaces it or fails. In neither case
// is anything written into it.
const char* obstacle(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return nullptr;
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return nullptr;
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// Whether the name is a link into /proc. /dev/stdout is one: it leads to /proc/self/fd/1, an open
// file. rename() would replace the link, but the user means the open file.
bool leads_to_open_file(const std::string& path) {
  std::array<char, 64> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size() - 1);
  return length > 0 && std::string_view(target.data()).starts_with("/proc/");
}

std::string temporary_name(const std::string& path) { return path + format_text(".%016" PRIx64 ".new", random_id()); }

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  if (const char* there = obstacle(path_); there != nullptr) {
    problem_ = std::string(there) + " has that name; allowed: a regular file, or a name that is free";
    return;
  }
  if (leads_to_open_file(path_)) {
    problem_ = "a link to an open file has that name; allowed: a regular file, or a name that is free";
    return;
  }
  // O_EXCL: whatever has the temporary name already, even a link, belongs to somebody else.
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) problem_ = std::strerror(errno);
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

std::string NewFile::finish(std::string_view text) {
  if (!problem_.empty()) return problem_;
  while (!text.empty()) {
    const ssize_t count = write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::strerror(errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  // The file gets its name last, after close(): a network file system may report a full disk only
  // there.
  const int error = close(std::exchange(descriptor_, -1)) == 0 && rename(temporary_.c_str(), path_.c_str()) == 0 ? 0 : errno;
  if (error != 0) unlink(temporary_.c_str());
  return error == 0 ? "" : std::strerror(error);
}

std::string write_new_file(const std::string& path, std::string_view text) { return NewFile(path).finish(text); }

}  // namespace hierbar
