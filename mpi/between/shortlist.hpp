// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/settings/meeting_setting.hpp"

namespace hierbar::mpi {

inline constexpr std::size_t kMostShortlisted = 3;

// The schedules that a trial among this many nodes compares with the MPI library's barrier, or the
// one that the setting names; none for the library alone.
struct Shortlist {
  std::vector<network::Kind> kinds;
  std::string source;  // where the costs of the network are from; empty if none were needed
  std::vector<std::string> problems;
};

// Only rank 0 of a communicator asks, and tells the others. It is worked out once for each number
// of nodes, since a program may set up thousands of communicators. Thread-safe.
const Shortlist& shortlist_for(const MeetingSetting& setting, std::uint32_t num_nodes, const std::string& library);

}  // namespace hierbar::mpi
