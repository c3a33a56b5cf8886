// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "report/report.hpp"

namespace hierbar::report {

// A page that contains all it needs and loads nothing. It has the figures as JSON, the scripts of
// html/ that draw pictures from them, and the report as text for browsers without scripts. See
// docs/design/reports.md#d0059.
std::string to_html(const Report& report);

}  // namespace hierbar::report
