// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

namespace hierbar {

// An environment: returns the value of a variable, or null when it is unset. Functions take it as a
// parameter, so that tests can show them environments of other launchers.
using Environment = std::function<const char*(const char* name)>;

// The environment of this process, read by trusted_variable(). A value is valid until somebody
// changes the environment.
Environment own_environment();

// The value of a variable; an empty string when it is unset.
std::string value_of(const Environment& environment, const char* name);

// "NAME=value NAME=value": those of these variables that are not empty.
std::string settings_in(const Environment& environment, std::initializer_list<const char*> names);

}  // namespace hierbar
