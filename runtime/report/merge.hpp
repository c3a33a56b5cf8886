// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "report/report.hpp"

namespace hierbar::ompt {

// Reads what to_json() wrote, in this process or another. Throws std::runtime_error with the reason
// if it is something else.
Report parse_report(const std::string& json);

// Adds the report of another process. Sites with the same name, kind and team size become one.
// Threads are added by their numbers.
void merge_report(Report& into, const Report& from);

}  // namespace hierbar::ompt
