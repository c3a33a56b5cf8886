// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ompt-tools/report_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ompt-tools/report_html.hpp"
#include "ompt-tools/report_lstopo.hpp"

namespace hierbar::ompt {
namespace {

// Returns 0 or the error. A full disk may show only when the file is closed.
int write_all(const std::string& name, const std::string& content) {
  std::FILE* file = std::fopen(name.c_str(), "w");
  if (file == nullptr) return errno;
  const int error = std::fwrite(content.data(), 1, content.size(), file) == content.size() ? 0 : errno;
  return std::fclose(file) != 0 && error == 0 ? errno : error;
}

}  // namespace

bool asks_for_files(const Settings& settings) {
  return settings.json || settings.csv || settings.html || settings.perfetto || settings.lstopo ||
         (settings.text && !settings.output.empty());
}

bool write_reports(const Report& report, const Settings& settings, const Process& process, const std::string& part) {
  const auto name = [&](const char* ending) { return expand_output(settings, process, part + ending); };
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
  const int error = write_all(name, content);
  if (error != 0) std::fprintf(stderr, "hierbar: cannot write the report %s: %s\n", name.c_str(), std::strerror(error));
  return error == 0;
}

bool replace_file(const std::string& name, const std::string& content) {
  const std::string fresh = name + ".new";
  if (write_all(fresh, content) == 0 && std::rename(fresh.c_str(), name.c_str()) == 0) return true;
  std::remove(fresh.c_str());
  return false;
}

}  // namespace hierbar::ompt
