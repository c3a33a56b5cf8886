// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/process_rows.hpp"

namespace hierbar::report {

std::string name_of(const Report& report) {
  if (report.num_processes > 1) return std::to_string(report.num_processes) + " processes";
  if (report.process.rank >= 0) return "rank " + std::to_string(report.process.rank);
  return "process " + std::to_string(report.process.pid);
}

std::vector<ProcessRow> rows_of(const Report& report, const SiteReport& site) {
  if (!site.rows.empty() && !spans_processes(site.kind)) return site.rows;
  ProcessRow row = {spans_processes(site.kind) ? "all ranks" : name_of(report), report.process.host, site.episodes, {}};
  if (!site.threads.empty()) row.last_arrivals.resize(std::size_t{site.threads.rbegin()->first} + 1);
  for (const auto& [number, thread] : site.threads) row.last_arrivals[number] = thread.last_arrivals;
  return {row};
}

}  // namespace hierbar::report
