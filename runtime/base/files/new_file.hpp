// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace hierbar {

// A file that appears under its name as a whole or not at all.
//
// It is written under a temporary name in the same directory. At the end it takes its final name,
// also if an older file has it. When it is given up or fails, nothing is left behind.
//
// Requires: under the final name there is nothing, or a regular file, or a link to one of these. A
// link is replaced and never followed: in a directory that others may write to, it could lead to
// any file of this user. The rest is refused, because the user means something else by that name: a
// directory, FIFO, socket or device, also at the end of a link, and a link to an open file, as
// /dev/stdout is.
class NewFile {
 public:
  // Creates the temporary file. This is done before the work, so that minutes of work are not lost
  // to a file that cannot be written. If it fails, `problem()` is not empty.
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Writes the text and gives the file its final name. Returns what went wrong, or an empty string.
  std::string finish(std::string_view text);

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  const std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::string problem_;
};

// All of this in one step. Returns what went wrong, or an empty string.
std::string write_new_file(const std::string& path, std::string_view text);

}  // namespace hierbar
