// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/schedule.hpp"

namespace hierbar::mpi {

// How the leaders of several nodes meet, as HIERBAR_MPI_MEETING says.
struct MeetingSetting {
  enum class Mode : std::uint8_t {
    kLibrary,  // in the MPI library's barrier
    kAuto,     // in what a trial finds to be best
    kFixed,    // by the schedule `kind`
  };
  Mode mode = Mode::kLibrary;
  network::Kind kind;

  // As one number, in which ranks tell each other their settings. 0 for kLibrary.
  std::uint64_t code() const;
  static MeetingSetting from_code(std::uint64_t code);
};

inline constexpr const char* kMeetingVariable = "HIERBAR_MPI_MEETING";

// Reads the variable. A value that is not understood is reported in `problems`; the library is used
// then.
MeetingSetting read_meeting_setting(std::vector<std::string>& problems);

// A kind as a number that is not 0, and back.
std::uint32_t code_of(network::Kind kind);
network::Kind kind_from(std::uint32_t code);

// "library", "auto", "dissemination:3"
std::string name_of(const MeetingSetting& setting);

}  // namespace hierbar::mpi
