// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/environment.hpp"

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

}  // namespace hierbar
