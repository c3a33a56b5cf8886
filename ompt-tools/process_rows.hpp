// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "ompt-tools/report.hpp"

namespace hierbar::ompt {

// "rank 3", or "process 4711" where ranks are not known, or "4 processes".
std::string name_of(const Report& report);

// Who arrived last at a site of the report, by process: what merging has kept, or the row that a single process's report is.
// Where ranks meet, a single row has all of them.
std::vector<ProcessRow> rows_of(const Report& report, const SiteReport& site);

}  // namespace hierbar::ompt
