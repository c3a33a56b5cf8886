// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "report/settings.hpp"

namespace hierbar::mpi {

// HIERBAR_REPORT, HIERBAR_OUTPUT and HIERBAR_SAMPLE. They mean the same as for libhierbar_ompt.so.
// Only without HIERBAR_REPORT do the two differ: the shim then records nothing.
struct RankReportSettings {
  bool asked = false;
  report::ReportSettings settings;
  std::vector<std::string> problems;
};

// The variables are read once.
const RankReportSettings& report_settings();

}  // namespace hierbar::mpi
