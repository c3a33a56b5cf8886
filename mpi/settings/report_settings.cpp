// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/report_settings.hpp"

#include "base/trusted_variable.hpp"

namespace hierbar::mpi {
namespace {

RankReportSettings read() {
  RankReportSettings read;
  const char* asked = trusted_variable("HIERBAR_REPORT");
  if (asked == nullptr || *asked == '\0') return read;
  read.settings = report::read_settings(read.problems);
  read.asked = read.settings.text || read.settings.json || read.settings.csv || read.settings.html;
  return read;
}

}  // namespace

// Never destroyed, because MPI may be used until the very end of the process.
const RankReportSettings& report_settings() {
  static const auto* const settings = new RankReportSettings(read());
  return *settings;
}

}  // namespace hierbar::mpi
