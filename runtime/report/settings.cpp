// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/launchers.hpp"
#include "base/process.hpp"
#include "base/trusted_variable.hpp"

namespace hierbar::report {
namespace {

constexpr std::uint64_t kMaxEvery = 1'000'000;
constexpr std::uint64_t kMaxTraceEvents = 10'000'000;  // 1 GB for each thread

std::string variable(const char* name) {
  const char* value = trusted_variable(name);
  return value == nullptr ? "" : value;
}

// The value of the first of these variables that is set.
std::string first_of(std::initializer_list<const char*> names, std::string otherwise) {
  for (const char* name : names) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return otherwise;
}

std::string problem(const char* name, const std::string& value, const std::string& allowed,
                    const std::string& used) {
  return std::string(name) + "=\"" + value + "\" is not " + allowed + "; using " + used;
}

struct Format {
  const char* name;
  bool ReportSettings::* wanted;
};
constexpr Format kFormats[] = {
    {"text", &ReportSettings::text},         {"json", &ReportSettings::json},
    {"csv", &ReportSettings::csv},           {"html", &ReportSettings::html},
    {"perfetto", &ReportSettings::perfetto}, {"lstopo", &ReportSettings::lstopo}};

void read_report(ReportSettings& settings, std::vector<std::string>& problems) {
  const std::string value = variable("HIERBAR_REPORT");
  if (value.empty()) return;
  ReportSettings asked;
  asked.text = false;
  bool known = true, none = false;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view word = std::string_view(value).substr(begin, end - begin);
    const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                      [&](const Format& f) { return word == f.name; });
    if (format != std::end(kFormats))
      asked.*format->wanted = true;
    else if (word == "none")
      none = true;
    else
      known = false;
    begin = end + 1;
  }
  if (!known || (none && asked.asks_for_any())) {
    std::string names;
    for (const Format& format : kFormats) names += std::string(format.name) + ", ";
    problems.push_back(
        problem("HIERBAR_REPORT", value, "a list of " + names + "or none alone", "text"));
    return;
  }
  for (const Format& format : kFormats) settings.*format.wanted = asked.*format.wanted;
}

// Each report adds the ending of its format. Of a name that has one already, only the rest counts.
std::string without_ending(const std::string& name) {
  for (const char* ending : {".txt", ".trace.json", ".json", ".csv", ".html", ".lstopo.xml"}) {
    if (name.ends_with(ending) && name != ending)
      return name.substr(0, name.size() - std::string_view(ending).size());
  }
  return name;
}

void read_output(ReportSettings& settings, std::vector<std::string>& problems) {
  const std::string value = variable("HIERBAR_OUTPUT");
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') continue;
    if (i + 1 < value.size() &&
        std::string_view("hprj%").find(value[++i]) != std::string_view::npos)
      continue;
    problems.push_back(problem(
        "HIERBAR_OUTPUT", value,
        "a file name in which %h, %p, %r, %j or %% follows each percent sign", "the default"));
    return;
  }
  settings.output = without_ending(value);
}

// Reads a whole number from 1 to `most`. A bad value leaves `number` as it is.
void read_number(const char* name, std::uint64_t most, std::uint64_t& number,
                 std::vector<std::string>& problems) {
  const std::string value = variable(name);
  if (value.empty()) return;
  char* end = nullptr;
  errno = 0;
  const long parsed = std::strtol(value.c_str(), &end, 10);
  if (errno == 0 && *end == '\0' && parsed >= 1 && parsed <= static_cast<long>(most))
    number = static_cast<std::uint64_t>(parsed);
  else
    problems.push_back(problem(name, value, "a whole number from 1 to " + std::to_string(most),
                               std::to_string(number)));
}

}  // namespace

Process this_process() {
  Process process;
  process.host = host_name();
  process.pid = getpid();
  if (const char* rank = rank_in_job(own_environment()); rank != nullptr && *rank != '\0') {
    char* end = nullptr;
    const long number = std::strtol(rank, &end, 10);
    if (*end == '\0' && number >= 0) process.rank = number;
  }
  process.job = first_of({"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}, "0");
  return process;
}

ReportSettings read_settings(std::vector<std::string>& problems) {
  ReportSettings settings;
  read_report(settings, problems);
  read_output(settings, problems);
  read_number("HIERBAR_SAMPLE", kMaxEvery, settings.every, problems);
  read_number("HIERBAR_TRACE_EVENTS", kMaxTraceEvents, settings.trace_events, problems);
  settings.chain = variable("HIERBAR_OMPT_CHAIN");
  return settings;
}

std::string expand_output(const ReportSettings& settings, const Process& process,
                          const std::string& ending) {
  const std::string pattern = settings.output.empty() ? "hierbar-%h-%p" : settings.output;
  const std::string rank = process.rank == Process::kAllRanks
                               ? "all"
                               : std::to_string(process.rank < 0 ? 0 : process.rank);
  std::string name;
  bool own = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    const char what = pattern[++i];
    own = own || what == 'p' || what == 'r';
    if (what == 'h') name += process.host;
    if (what == 'p') name += std::to_string(process.pid);
    if (what == 'r') name += rank;
    if (what == 'j') name += process.job;
    if (what == '%') name += '%';
  }
  if (!own && process.rank >= 0) name += "-" + rank;
  return name + "." + ending;
}

}  // namespace hierbar::report
