// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/files.hpp"

#include <cstdio>

#include "base/files.hpp"
#include "report/format/html.hpp"
#include "report/format/lstopo.hpp"

namespace hierbar::report {

bool asks_for_files(const ReportSettings& settings) {
  return settings.json || settings.csv || settings.html || settings.perfetto || settings.lstopo ||
         (settings.text && !settings.output.empty());
}

bool write_reports(const Report& report, const ReportSettings& settings, const Process& process,
                   const std::string& part) {
  const auto name = [&](const char* ending) {
    return expand_output(settings, process, part + ending);
  };
  bool ok = true;
  if (settings.text && !settings.output.empty())
    ok = write_file(name("txt"), to_text(report)) && ok;
  else if (settings.text && process.rank <= 0)
    std::fputs(to_text(report).c_str(), stderr);
  if (settings.json) ok = write_file(name("json"), to_json(report)) && ok;
  if (settings.csv) ok = write_file(name("csv"), to_csv(report)) && ok;
  if (settings.html) ok = write_file(name("html"), to_html(report)) && ok;
  if (settings.lstopo) ok = write_lstopo(name("lstopo.xml"), report) && ok;
  return ok;
}

bool write_file(const std::string& name, const std::string& content) {
  const std::string problem = write_new_file(name, content);
  if (!problem.empty())
    std::fprintf(stderr, "hierbar: cannot write the report %s: %s\n", name.c_str(),
                 problem.c_str());
  return problem.empty();
}

}  // namespace hierbar::report
