// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hierbar {

// What printf() would print. It may have any length: names of symbols do.
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...);

// A setting as a person wrote it, in lower case and without the blanks around it.
std::string lower_word(std::string_view text);

// The same for each of the parts between separators. There is at least one, which may be empty.
std::vector<std::string> lower_words(std::string_view text, char separator);

}  // namespace hierbar
