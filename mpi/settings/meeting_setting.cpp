// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/meeting_setting.hpp"

#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "plan/settings.hpp"

namespace hierbar::mpi {

std::uint32_t code_of(network::Kind kind) { return (static_cast<std::uint32_t>(kind.algorithm) + 1) << 16 | kind.k; }

network::Kind kind_from(std::uint32_t code) { return {static_cast<network::Algorithm>((code >> 16) - 1), code & 0xffff}; }

std::uint64_t MeetingSetting::code() const {
  return mode == Mode::kFixed ? std::uint64_t{code_of(kind)} << 8 | 2 : static_cast<std::uint64_t>(mode);
}

MeetingSetting MeetingSetting::from_code(std::uint64_t code) {
  const auto mode = static_cast<Mode>(code & 0xff);
  return mode == Mode::kFixed ? MeetingSetting{mode, kind_from(static_cast<std::uint32_t>(code >> 8))} : MeetingSetting{mode, {}};
}

MeetingSetting read_meeting_setting(std::vector<std::string>& problems) {
  const char* value = trusted_variable(kMeetingVariable);
  const std::string word = lower_word(value == nullptr ? "" : value);
  if (word.empty() || word == "library") return {};
  if (word == "auto") return {MeetingSetting::Mode::kAuto, {}};
  const Result<network::Kind> kind = network::parse_kind(word);
  if (kind) return {MeetingSetting::Mode::kFixed, *kind};
  problems.push_back(
      bad_setting(kMeetingVariable, value, kind.error(), std::string("library, auto, ") + network::kAllowedKinds, "library"));
  return {};
}

std::string name_of(const MeetingSetting& setting) {
  if (setting.mode == MeetingSetting::Mode::kFixed) return network::name_of(setting.kind);
  return setting.mode == MeetingSetting::Mode::kAuto ? "auto" : "library";
}

}  // namespace hierbar::mpi
