// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hierbar {
namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool is_regular() const {
    struct stat status{};
    return fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }

  // At most `most_bytes` + 1 bytes, by which a file that is too large is found.
  SmallFile read_all(std::size_t most_bytes) const {
    SmallFile file;
    std::array<char, 4096> buffer{};
    while (file.text.size() <= most_bytes) {
      const ssize_t count = read(descriptor_, buffer.data(), std::min(buffer.size(), most_bytes + 1 - file.text.size()));
      if (count == 0) break;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return {"", std::strerror(errno)};
      file.text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (file.text.size() > most_bytes) return {"", "it is larger than " + std::to_string(most_bytes >> 10) + " KiB"};
    return file;
  }

 private:
  int descriptor_;
};

}  // namespace

SmallFile read_small_file(const std::string& path, std::size_t most_bytes) {
  const File file(path);
  if (!file.is_open()) {
    const int error = errno;
    return {"", std::strerror(error), error == ENOENT || error == ENOTDIR};
  }
  if (!file.is_regular()) return {"", "it is no regular file"};
  return file.read_all(most_bytes);
}

}  // namespace hierbar
