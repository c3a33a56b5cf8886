// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/settings.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "plan/settings.hpp"

namespace hierbar::mpi {
namespace {

// The variable's value; empty when it is not set.
std::string_view variable(const char* name) {
  const char* value = trusted_variable(name);
  return value == nullptr ? "" : value;
}

bool read_switch(const char* name, const char* off, const char* on, bool used,
                 std::vector<std::string>& problems) {
  const std::string_view value = variable(name);
  if (value.empty()) return used;
  if (value == off) return false;
  if (value == on) return true;
  problems.push_back(
      bad_setting(name, value, "not understood", std::string(off) + ", " + on, used ? on : off));
  return used;
}

Served read_served(std::vector<std::string>& problems) {
  const std::string_view value = variable(kServedVariable);
  if (value.empty() || value == "on" || value == "barrier") return Served::kBarriers;
  if (value == "collectives") return Served::kCollectives;
  if (value == "off") return Served::kNothing;
  problems.push_back(bad_setting(kServedVariable, value, "not understood",
                                 "barrier, collectives, off", "barrier"));
  return Served::kBarriers;
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
  problems.push_back(bad_setting(
      name, value, whole ? "out of range" : "not a whole number",
      std::to_string(range.lowest) + " to " + std::to_string(range.highest), range.used_text));
  return range.used;
}

Algorithm read_algorithm(std::vector<std::string>& problems) {
  const std::string_view value = variable(kAlgorithmVariable);
  if (value.empty()) return Algorithm::kHier;
  if (const std::optional<Algorithm> algorithm = parse_algorithm(value)) return *algorithm;
  problems.push_back(
      bad_setting(kAlgorithmVariable, value, "unknown algorithm", kAllowedAlgorithms, "'hier' is"));
  return Algorithm::kHier;
}

}  // namespace

ShimSettings read_settings() {
  ShimSettings settings;
  settings.served = read_served(settings.problems);
  read_switch(kSessionsVariable, "own", kSharedSession, false, settings.problems);
  settings.verbose = read_switch("HIERBAR_VERBOSE", "0", "1", false, settings.problems);
  settings.num_fake_nodes =
      static_cast<int>(read_number("HIERBAR_FAKE_NODES", {1, 1024, 1, "1"}, settings.problems));
  settings.timeout_ns =
      1'000'000'000 *
      read_number("HIERBAR_TIMEOUT_S", {0, 1'000'000, 0, "0 (never)"}, settings.problems);
  settings.segment_kib =
      read_number("HIERBAR_SEGMENT_KIB",
                  {4, 1'048'576, 0, "a size that follows the number of ranks"}, settings.problems);
  settings.set_up_at = static_cast<std::uint64_t>(
      read_number("HIERBAR_MPI_SET_UP_AT", {1, 1'000'000, 8, "8"}, settings.problems));
  settings.meeting = read_meeting_setting(settings.problems);
  settings.algorithm = read_algorithm(settings.problems);
  for (std::string& message : untold_misspelt_variables())
    settings.problems.push_back(std::move(message));
  return settings;
}

std::uint32_t code_of(network::Kind kind) {
  return (static_cast<std::uint32_t>(kind.algorithm) + 1) << 16 | kind.k;
}

network::Kind kind_from(std::uint32_t code) {
  return {static_cast<network::Algorithm>((code >> 16) - 1), code & 0xffff};
}

std::uint64_t MeetingSetting::code() const {
  return mode == Mode::kFixed ? std::uint64_t{code_of(kind)} << 8 | 2
                              : static_cast<std::uint64_t>(mode);
}

MeetingSetting MeetingSetting::from_code(std::uint64_t code) {
  const auto mode = static_cast<Mode>(code & 0xff);
  return mode == Mode::kFixed
             ? MeetingSetting{mode, kind_from(static_cast<std::uint32_t>(code >> 8))}
             : MeetingSetting{mode, {}};
}

MeetingSetting read_meeting_setting(std::vector<std::string>& problems) {
  const char* value = trusted_variable(kMeetingVariable);
  const std::string word = lower_word(value == nullptr ? "" : value);
  if (word.empty() || word == "library") return {};
  if (word == "auto") return {MeetingSetting::Mode::kAuto, {}};
  const Result<network::Kind> kind = network::parse_kind(word);
  if (kind) return {MeetingSetting::Mode::kFixed, *kind};
  problems.push_back(bad_setting(kMeetingVariable, value, kind.error(),
                                 std::string("library, auto, ") + network::kAllowedKinds,
                                 "library"));
  return {};
}

std::string name_of(const MeetingSetting& setting) {
  if (setting.mode == MeetingSetting::Mode::kFixed) return network::name_of(setting.kind);
  return setting.mode == MeetingSetting::Mode::kAuto ? "auto" : "library";
}

}  // namespace hierbar::mpi
