// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/variables.hpp"

#include <unistd.h>

#include "base/served_file.hpp"
#include "base/text.hpp"
#include "base/trusted_variable.hpp"

namespace hierbar {

Environment own_environment() {
  return [](const char* name) -> const char* { return trusted_variable(name); };
}

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

std::string settings_in(const Environment& environment, std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) {
    const std::string value = value_of(environment, name);
    if (!value.empty()) text += (text.empty() ? "" : " ") + std::string(name) + "=" + value;
  }
  return text;
}

namespace {

constexpr std::string_view kPrefix = "HIERBAR_";
constexpr std::size_t kLongestName = 64;

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
      messages.push_back("there is no variable " + std::string(name) + "; did you mean " +
                         meant->name + "? 'hierbar variables' lists all");
    }
  }
  return messages;
}

std::vector<std::string> untold_misspelt_variables() {
  return trusted_variable(kServedFileVariable) == nullptr ? misspelt_variables()
                                                          : std::vector<std::string>();
}

}  // namespace hierbar
