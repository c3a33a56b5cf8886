// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/environment.hpp"

namespace hierbar::test {

using Variables = std::map<std::string, std::string>;

// An environment of these variables and no others.
inline Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

}  // namespace hierbar::test
