// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace hierbar {

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

}  // namespace hierbar
