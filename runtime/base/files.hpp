// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/variables.hpp"

namespace hierbar {

// An open file, which is closed at the end; -1: none. A mapping of it stays valid.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

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

// Removes the name `path` of an open file of this user, unless the name belongs to another file by
// now.
//
// unlink() cannot check whose name it removes. So the file is first renamed to a name that nobody
// else knows, and then checked. A file that has lost its name in error gets it back at once. If a
// third file has taken the name in that moment, the second one stays without a name. Processes that
// have it open go on. A meeting whose ranks do not find each other for this reason ends at its
// deadline.
//
// A process that is killed in between leaves a name that begins with `path`. sweep_meetings() finds
// it.
void remove_name(const std::string& path, int descriptor);

// The text of a file, or why there is none.
struct SmallFile {
  std::string text;
  std::string problem;      // empty: `text` is the file's
  bool is_missing = false;  // there is no file of that name
};

// Reads a file of the user's choice. Refuses what is no regular file, and what has more than
// `most_bytes`, also if it grows meanwhile. Does not block: a pipe of that name would wait for its
// writer.
SmallFile read_small_file(const std::string& path, std::size_t most_bytes);

// The text of a file, up to its end or to the first error of a read; nothing if it cannot be
// opened. Mostly of the kernel's files, as in /proc, whose sizes nobody knows before.
//
// Not by a stream: the streams of libhierbar.so's own C++ library would be two thirds of the
// library, which the loader prepares for every program (docs/design/libomp.md#d0165).
std::optional<std::string> read_whole_file(const std::string& path);

// The first word of such a file; empty if there is none, or no file.
std::string read_first_word(const std::string& path);

// The path of one of the user's own files: hierbar/NAME in $XDG_CONFIG_HOME, else in ~/.config.
// Empty if neither directory is known.
std::string config_file(const Environment& environment, const std::string& name);

}  // namespace hierbar
