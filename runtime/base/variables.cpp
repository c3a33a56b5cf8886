// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/trusted_variable.hpp"

namespace hierbar {
namespace {

constexpr std::string_view kPrefix = "HIERBAR_";
constexpr std::size_t kLongestName = 64;

// How many letters must be changed, added or left out to make one text the other.
std::size_t letters_apart(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);  // the distances from the first letters of `one`
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min(replaced, std::min(row[j], row[j - 1]) + 1);
    }
  }
  return row.back();
}

}  // namespace

const Variable* misspelt_variable(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() > kLongestName) return nullptr;
  const std::string_view own = name.substr(kPrefix.size());
  const Variable* nearest = nullptr;
  std::size_t least = own.size() / 3 + 1;  // "LEVEL" is LEVELS, "ROOT" is not SOURCES
  for (const Variable& variable : kVariables) {
    const std::string_view known = variable.name;
    if (!known.starts_with(kPrefix)) continue;
    const std::size_t apart = letters_apart(own, known.substr(kPrefix.size()));
    if (apart == 0) return nullptr;
    if (apart < least) {
      least = apart;
      nearest = &variable;
    }
  }
  return nearest;
}

std::vector<std::string> misspelt_variables() {
  std::vector<std::string> messages;
  if (is_environment_untrusted()) return messages;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (const Variable* meant = misspelt_variable(name)) {
      messages.push_back("there is no variable " + std::string(name) + "; did you mean " + meant->name +
                         "? 'hierbar variables' lists all");
    }
  }
  return messages;
}

}  // namespace hierbar
