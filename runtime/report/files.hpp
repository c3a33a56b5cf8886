// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "report/report.hpp"
#include "report/settings.hpp"

namespace hierbar::report {

// Whether any part of the report goes to a file, and not only to the standard error.
bool asks_for_files(const ReportSettings& settings);

// Writes the report in all formats that were asked for, except time lines, to files named after
// `process`. A file that cannot be written is reported on the standard error. If the files are not
// the whole report, `part` goes before their endings: "late." makes run.late.json. Returns whether
// all files could be written.
bool write_reports(const Report& report, const ReportSettings& settings, const Process& process,
                   const std::string& part = "");

// Writes a new file (base/new_file.hpp). On failure, writes a line to the standard error and
// returns false.
bool write_file(const std::string& name, const std::string& content);

}  // namespace hierbar::report
