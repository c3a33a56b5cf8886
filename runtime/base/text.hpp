// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hierbar {

// What printf() would print. It may have any length: names of symbols do.
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...);

// "1 barrier", "2 barriers".
std::string plural(std::uint64_t number, std::string_view noun);

// A setting as a person wrote it, in lower case and without the blanks around it.
std::string lower_word(std::string_view text);

// The same for each of the parts between separators. There is at least one, which may be empty.
std::vector<std::string> lower_words(std::string_view text, char separator);

// Takes the first line off `text`, with its end. Returns it without.
std::string_view take_line(std::string_view& text);

// Takes the first word off `text`, with the blanks and ends of lines before it. Returns an empty
// one if there is none.
std::string_view take_word(std::string_view& text);

// Whether the whole of `text` is a number that `number` can hold. If not, `number` is unchanged.
template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  Number found{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  number = found;
  return true;
}

// How many letters must be added, left out or changed to make one text of the other. The cost is
// the product of both lengths.
std::size_t letters_apart(std::string_view one, std::string_view other);

}  // namespace hierbar
