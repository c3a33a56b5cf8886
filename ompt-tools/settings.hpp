// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hierbar::ompt {

// What the variables ask for.
//
//   HIERBAR_REPORT   a list of text, json, csv, html, perfetto, lstopo, or none. Default: text.
//   HIERBAR_OUTPUT   the files' name without its ending, which is that of the format. %h host, %p process id, %r rank, %j job, %%
//                    a percent sign. Default: the text goes to the standard error, of rank 0 only, and files are called
//                    hierbar-%h-%p.
//   HIERBAR_SAMPLE   record one barrier in so many. Default: 1, all.
//   HIERBAR_TRACE_EVENTS   how many barriers and tasks each thread keeps for perfetto, the last ones. Default: 4096.
//
//   HIERBAR_OMPT_CHAIN   another OMPT tool's library, which is to see everything too; see chain.hpp
struct Settings {
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

// Where this process stands among others, from the launcher's variables.
struct Process {
  static constexpr long kAllRanks = -2;  // for the name of a report of all of them
  std::string host;
  long pid = 0;
  long rank = -1;  // -1: not known
  std::string job = "0";
};
Process this_process();

// Reads the variables; each that is wrong adds one line to `problems`, with the variable, its value, what is allowed and what is
// used instead.
Settings read_settings(std::vector<std::string>& problems);

// The name of a report's file. Ranks never share one: a pattern that has neither %p nor %r gets the rank at its end. For all
// ranks together %r is "all", and nothing is added.
std::string expand_output(const Settings& settings, const Process& process, const std::string& ending);

}  // namespace hierbar::ompt
