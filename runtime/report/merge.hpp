// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "report/report.hpp"

namespace hierbar::report {

// Reads what to_json() wrote, in this process or another. Throws std::runtime_error with the reason
// if it is something else.
Report parse_report(const std::string& json);

// Adds the reports of other processes to one. Sites with the same name, kind and team size become
// one. Threads are added by their numbers.
//
// The sites come in the order in which they are first met; sort_sites() orders them. Requires that
// nobody else changes the sites of `into` in between. To add a report takes time by its own size,
// and by that of `into` only its logarithm.
class Merger {
 public:
  explicit Merger(Report& into);
  void add(const Report& from);

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;

  void add_site(const Report& from, const SiteReport& site);

  Report& into_;
  std::map<Key, std::size_t> index_;  // of the sites
};

// Adds one, and sorts the sites.
void merge_report(Report& into, const Report& from);

}  // namespace hierbar::report
