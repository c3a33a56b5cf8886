// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace hierbar::report {

// "rank 3"; "process 4711" if the rank is not known; "4 processes" for a merged report.
std::string name_of(const Report& report);

// Who arrived last at a site of the report: the rows of a merged report, or the one row of a report
// of one process. Barriers of ranks have a single row with all ranks.
std::vector<ProcessRow> rows_of(const Report& report, const SiteReport& site);

}  // namespace hierbar::report
