// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "ompt-tools/report.hpp"
#include "ompt-tools/settings.hpp"

namespace hierbar::ompt {

// Whether a report goes anywhere else than to the standard error.
bool asks_for_files(const Settings& settings);

// Writes the report in every format that was asked for but time lines, to files named after `process`; each that cannot be
// written is told. `part` goes before the files' endings and says that they are not the whole report: "late." makes
// run.late.json. Returns whether all could be written.
bool write_reports(const Report& report, const Settings& settings, const Process& process, const std::string& part = "");

// Writes a new file (base/new_file.hpp), or says in one line on the standard error why it could
// not.
bool write_file(const std::string& name, const std::string& content);

}  // namespace hierbar::ompt
