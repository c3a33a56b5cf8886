// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace hierbar {

// A file that is there as a whole or not at all. It is written under a name of its own in the same
// directory, and takes its final name at the end, also from an older file. Given up, or failed, it
// leaves nothing.
//
// What may have the final name before: nothing, a regular file, or a link, which is replaced and
// never followed: in a directory that others may write to, it could lead to any file of this user.
// A directory, FIFO, socket or device of that name, or at the end of a link of that name, is
// refused: it was meant for something else (/dev/stdout is such a link).
class NewFile {
 public:
  // Begins it, so that minutes of work are not done for a file that cannot be written. `problem()`
  // is not empty if that failed.
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Writes everything and gives the file its name. Returns what went wrong; empty if nothing did.
  std::string finish(std::string_view text);

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  const std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::string problem_;
};

// The same in one step. Returns what went wrong; empty if nothing did.
std::string write_new_file(const std::string& path, std::string_view text);

}  // namespace hierbar
