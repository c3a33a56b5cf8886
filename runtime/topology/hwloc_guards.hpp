// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/trusted_variable.hpp"

namespace hierbar {

// Hides environment variables of this process from getenv() during its lifetime. For libraries that
// obey the environment and have no other setting.
//
// unsetenv() and setenv() would move the environment's array, while other threads of the host
// program may be reading it. This class replaces single pointers atomically and puts them back. A
// concurrent getenv() sees the old entry or none.
class MaskedEnvironment {
 public:
  // Hides the variables of these names.
  explicit MaskedEnvironment(std::span<const char* const> names);
  // Hides all variables whose names begin with `prefix`.
  explicit MaskedEnvironment(std::string_view prefix);
  ~MaskedEnvironment();
  MaskedEnvironment(const MaskedEnvironment&) = delete;
  MaskedEnvironment& operator=(const MaskedEnvironment&) = delete;

 private:
  template <class Wanted>
  void hide(const Wanted& wanted);

  std::vector<char*> hidden_;
};

// Guards calls of hwloc: it must live from the first call to the end of the topology. hwloc obeys
// its variables in every program. They name files to read and a directory of plugins to load. If
// the environment is not to be trusted, all of them are hidden, and only plugins of hwloc's own
// directory are loaded.
//
// Requires: in a program with more rights than its user there is only one at a time. Otherwise the
// one that ends first would show the variables to the other's hwloc. Plans fulfil this, because the
// machine is loaded once, under a lock.
class HwlocEnvironment {
 public:
  HwlocEnvironment() {
    if (is_environment_untrusted()) hidden_.emplace("HWLOC_");
  }

 private:
  std::optional<MaskedEnvironment> hidden_;
};

// hwloc writes what it finds wrong with a machine or an XML file to stderr, as a block of stars,
// and has no other way to tell. After this call hwloc's blocks are caught, and the machine that is
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
