// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

namespace hierbar {

// An environment: the value of a variable, null when it is unset. Injected, so that tests show what others' environments mean.
using Environment = std::function<const char*(const char* name)>;

// This process's. Its values are valid until somebody changes the environment.
Environment own_environment();

// The value; empty when it is unset.
std::string value_of(const Environment& environment, const char* name);

}  // namespace hierbar
