// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace hierbar {

// hwloc writes what it finds wrong with a machine or an XML file to stderr, as a block of stars, and
// has no other way to tell. After this call hwloc's blocks are caught, and the machine that is
// loaded has a warning for each in place of it.
//
// For programs of this project only: what other threads write to stderr while hwloc loads would be
// taken for hwloc's words, and a process that they start would inherit the wrong file.
void catch_hwloc_complaints();

// Takes what is written to stderr during its lifetime, if complaints are to be caught.
class HwlocComplaints {
 public:
  HwlocComplaints();
  ~HwlocComplaints() { give_back(); }
  HwlocComplaints(const HwlocComplaints&) = delete;
  HwlocComplaints& operator=(const HwlocComplaints&) = delete;

  // Ends the catching. One line for each complaint, which begins with `what`, the thing that hwloc
  // complains about.
  std::vector<std::string> take(const std::string& what);

 private:
  void give_back();

  int stderr_ = -1;  // a duplicate of the real one while it is replaced
  int file_ = -1;    // what stands in for it
};

// The lines of `text`, as hwloc writes it, put together: a block becomes one line without its stars
// and without what concerns hwloc's developers.
std::vector<std::string> sum_up_complaints(const std::string& text, const std::string& what);

}  // namespace hierbar
