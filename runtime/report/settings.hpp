// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hierbar::report {

// The settings of the tool, from these variables:
//
//   HIERBAR_REPORT        a list of text, json, csv, html, perfetto, lstopo; or none.
//                         Default: text.
//   HIERBAR_OUTPUT        the name of the files. Its ending depends on the format; one of .txt,
//                         .json, .csv, .html, .trace.json, .lstopo.xml in the value is left out.
//                         %h is the host, %p the process id, %r the rank, %j the job, %% a percent
//                         sign. Default: the text goes to the standard error, of rank 0 only, and
//                         files are called hierbar-%h-%p.
//   HIERBAR_SAMPLE        n: record one barrier in n. Default: 1, all.
//   HIERBAR_TRACE_EVENTS  for perfetto: how many barriers and tasks each thread keeps; these are
//                         the last ones. Default: 4096.
//   HIERBAR_OMPT_CHAIN    the library of another OMPT tool, which sees all events too (chain.hpp)
struct ReportSettings {
  bool text = true;
  bool json = false;
  bool csv = false;
  bool html = false;
  bool perfetto = false;
  bool lstopo = false;
  std::string output;  // empty: the default
  std::uint64_t every = 1;
  std::uint64_t trace_events = 4096;
  std::string chain;  // empty: none

  bool asks_for_any() const { return text || json || csv || html || perfetto || lstopo; }
};

// Who this process is among others, from the launcher's variables.
struct Process {
  static constexpr long kAllRanks = -2;  // in the name of a report of all ranks
  std::string host;
  long pid = 0;
  long rank = -1;  // -1: not known
  std::string job = "0";
};
Process this_process();

// Reads the variables. Each bad one adds a line to `problems`: the variable, its value, what is
// allowed, and what is used instead.
ReportSettings read_settings(std::vector<std::string>& problems);

// The name of a report's file. Two ranks never share a file: if the pattern has neither %p nor %r,
// the rank is added at its end. In a report of all ranks, %r is "all" and nothing is added.
std::string expand_output(const ReportSettings& settings, const Process& process,
                          const std::string& ending);

}  // namespace hierbar::report
