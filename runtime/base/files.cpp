// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/process.hpp"
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

std::string temporary_name(const std::string& path) {
  return path + format_text(".%016" PRIx64 ".new", random_id());
}

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  if (const char* there = obstacle(path_); there != nullptr) {
    problem_ =
        std::string(there) + " has that name; allowed: a regular file, or a name that is free";
    return;
  }
  if (leads_to_open_file(path_)) {
    problem_ =
        "a link to an open file has that name; allowed: a regular file, or a name that is free";
    return;
  }
  // O_EXCL: whatever has the temporary name already, even a link, belongs to somebody else.
  descriptor_ =
      open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
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
  const int error =
      close(std::exchange(descriptor_, -1)) == 0 && rename(temporary_.c_str(), path_.c_str()) == 0
          ? 0
          : errno;
  if (error != 0) unlink(temporary_.c_str());
  return error == 0 ? "" : std::strerror(error);
}

std::string write_new_file(const std::string& path, std::string_view text) {
  return NewFile(path).finish(text);
}

namespace {

bool is_name_of(const std::string& path, const struct stat& file) {
  struct stat named{};
  return lstat(path.c_str(), &named) == 0 && named.st_dev == file.st_dev &&
         named.st_ino == file.st_ino;
}

}  // namespace

void remove_name(const std::string& path, int descriptor) {
  struct stat file{};
  if (fstat(descriptor, &file) != 0 || !is_name_of(path, file)) return;
  const std::string aside = path + "." + std::to_string(random_id());
  if (std::rename(path.c_str(), aside.c_str()) != 0) return;
  // link() fails if a file has the name by now, so it takes the name from nobody.
  if (!is_name_of(aside, file)) (void)link(aside.c_str(), path.c_str());
  unlink(aside.c_str());
}

namespace {

// Reads up to the end, but no more than `most_bytes`. Returns 0, or what stopped it before (errno).
int append_from(int descriptor, std::size_t most_bytes, std::string& text) {
  std::array<char, 4096> buffer;
  while (text.size() < most_bytes) {
    const ssize_t count =
        read(descriptor, buffer.data(), std::min(buffer.size(), most_bytes - text.size()));
    if (count == 0) break;
    if (count > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
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
    if (const int error = append_from(descriptor_, most_bytes + 1, file.text); error != 0)
      return {"", std::strerror(error)};
    if (file.text.size() > most_bytes)
      return {"", "it is larger than " + std::to_string(most_bytes >> 10) + " KiB"};
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
  if (!file.is_regular()) return {"", "it is not a regular file"};
  return file.read_all(most_bytes);
}

std::optional<std::string> read_whole_file(const std::string& path) {
  const OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  std::string text;
  append_from(file.get(), text.max_size(), text);
  return text;
}

std::string read_first_word(const std::string& path) {
  const std::string text = read_whole_file(path).value_or("");
  std::string_view rest = text;
  return std::string(take_word(rest));
}

namespace {

// The XDG specification says to ignore relative paths.
std::string absolute_path(const Environment& environment, const char* name) {
  const std::string value = value_of(environment, name);
  return value.starts_with('/') ? value : "";
}

}  // namespace

std::string config_file(const Environment& environment, const std::string& name) {
  std::string directory = absolute_path(environment, "XDG_CONFIG_HOME");
  if (directory.empty()) {
    const std::string home = absolute_path(environment, "HOME");
    if (home.empty()) return "";
    directory = home + "/.config";
  }
  return directory + "/hierbar/" + name;
}

}  // namespace hierbar
