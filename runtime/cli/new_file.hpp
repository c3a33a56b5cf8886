// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// A file that is there as a whole or not at all: it is written under another name in the same directory, and takes its own name,
// also from an older file, at the end. Given up, it leaves nothing.
class NewFile {
 public:
  // Begins it. `problem()` is not empty if that failed.
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Writes everything and gives the file its name. Returns what went wrong; empty if nothing did.
  std::string finish(const std::string& text);

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  const std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::string problem_;
};

}  // namespace hierbar
