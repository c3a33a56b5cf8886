// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

// The tables of our pages, for tests that compare them with a list of the product. The test needs
// HIERBAR_SOURCE_DIR.
namespace hierbar::test {

// The rows of the tables of a page of docs.
inline std::vector<std::string> table_rows(const std::string& page) {
  std::ifstream file(HIERBAR_SOURCE_DIR "/docs/" + page);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ")) rows.push_back(line);
  }
  return rows;
}

// All of a page, with its lines joined.
inline std::string text_of_page(const std::string& page) {
  std::ifstream file(HIERBAR_SOURCE_DIR "/docs/" + page);
  std::string text;
  for (std::string line; std::getline(file, line);) text += line + ' ';
  return text;
}

// Whether some row has all these words.
inline bool has_row_with(const std::vector<std::string>& rows,
                         const std::vector<std::string>& words) {
  return std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return row.find(word) != std::string::npos;
    });
  });
}

}  // namespace hierbar::test
