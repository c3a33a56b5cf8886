// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/words.hpp"

#include <algorithm>
#include <cctype>

namespace hierbar {

std::string lower_word(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  std::string word(text.substr(first, text.find_last_not_of(" \t") - first + 1));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

std::vector<std::string> lower_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    words.push_back(lower_word(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

}  // namespace hierbar
