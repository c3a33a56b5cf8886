// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/words.hpp"

#include <algorithm>
#include <cctype>

namespace hierbar {

std::vector<std::string> lower_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::string word(text.substr(begin, end - begin));
    word.erase(0, std::min(word.find_first_not_of(" \t"), word.size()));
    word.erase(word.find_last_not_of(" \t") + 1);
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    words.push_back(std::move(word));
    begin = end + 1;
  }
  return words;
}

}  // namespace hierbar
