// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/settings.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "mpi/settings/session_setting.hpp"
#include "plan/settings.hpp"

namespace hierbar::mpi {
namespace {

// The variable's value; empty when it is not set.
std::string_view variable(const char* name) {
  const char* value = trusted_variable(name);
  return value == nullptr ? "" : value;
}

bool read_switch(const char* name, const char* off, const char* on, bool used, std::vector<std::string>& problems) {
  const std::string_view value = variable(name);
  if (value.empty()) return used;
  if (value == off) return false;
  if (value == on) return true;
  problems.push_back(bad_setting(name, value, "not understood", std::string(off) + ", " + on, used ? on : off));
  return used;
}

struct Range {
  long lowest, highest, used;
  const char* used_text;
};

long read_number(const char* name, const Range& range, std::vector<std::string>& problems) {
  const std::string value(variable(name));
  if (value.empty()) return range.used;
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(value.c_str(), &end, 10);
  const bool whole = *end == '\0';
  if (whole && errno == 0 && number >= range.lowest && number <= range.highest) return number;
  problems.push_back(bad_setting(name, value, whole ? "out of range" : "not a whole number",
                                 std::to_string(range.lowest) + " to " + std::to_string(range.highest), range.used_text));
  return range.used;
}

Algorithm read_algorithm(std::vector<std::string>& problems) {
  const std::string_view value = variable(kAlgorithmVariable);
  if (value.empty()) return Algorithm::kHier;
  if (const std::optional<Algorithm> algorithm = parse_algorithm(value)) return *algorithm;
  problems.push_back(bad_setting(kAlgorithmVariable, value, "unknown algorithm", kAllowedAlgorithms, "'hier' is"));
  return Algorithm::kHier;
}

}  // namespace

ShimSettings read_settings() {
  ShimSettings settings;
  settings.enabled = read_switch("HIERBAR_MPI", "off", "on", true, settings.problems);
  read_switch(kSessionsVariable, "own", kSharedSession, false, settings.problems);
  settings.verbose = read_switch("HIERBAR_VERBOSE", "0", "1", false, settings.problems);
  settings.num_fake_nodes = static_cast<int>(read_number("HIERBAR_FAKE_NODES", {1, 1024, 1, "1"}, settings.problems));
  settings.timeout_ns = 1'000'000'000 * read_number("HIERBAR_TIMEOUT_S", {0, 1'000'000, 0, "0 (never)"}, settings.problems);
  settings.segment_kib =
      read_number("HIERBAR_SEGMENT_KIB", {4, 1'048'576, 0, "a size that follows the number of ranks"}, settings.problems);
  settings.set_up_at =
      static_cast<std::uint64_t>(read_number("HIERBAR_MPI_SET_UP_AT", {1, 1'000'000, 8, "8"}, settings.problems));
  settings.meeting = read_meeting_setting(settings.problems);
  settings.algorithm = read_algorithm(settings.problems);
  for (std::string& message : untold_misspelt_variables()) settings.problems.push_back(std::move(message));
  return settings;
}

}  // namespace hierbar::mpi
