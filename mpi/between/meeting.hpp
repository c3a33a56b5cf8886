// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/between/trial.hpp"
#include "mpi/library/pmpi.hpp"
#include "network/schedule.hpp"

namespace hierbar::mpi {

// How the leaders of several nodes meet on their communicator: in the MPI library's barrier, or by
// a schedule of empty messages, as one leader runs it.
//
// Requires that only one thread at a time is in a meeting on the communicator, and that all leaders
// have made theirs with the same kinds. Guarantees that no leader returns before all have come.
//
// Communicators with the same leaders share one leaders' communicator, and with it the meeting and
// its trial. So a duplicate goes on where the first communicator was.
class Meeting {
 public:
  // The library's barrier, for good.
  Meeting() = default;
  // With `is_trial`, the kinds and the library take turns until the trial has ended. Otherwise the
  // first kind is used. No kinds: the library's barrier. `reports`: this leader prints the verdict.
  Meeting(const std::vector<network::Kind>& kinds, bool is_trial, std::uint32_t rank, std::uint32_t size, bool reports);

  // One meeting. Returns MPI's status. After an error it is unknown which messages have come, as MPI
  // says of itself.
  int meet(const Pmpi& pmpi, MPI_Comm comm) noexcept;

 private:
  struct Schedule {
    network::Kind kind;
    std::vector<network::Round> rounds;
  };

  // Way 0 is the library, way i the schedule i - 1.
  int meet_by(std::size_t way, const Pmpi& pmpi, MPI_Comm comm) noexcept;
  int run(const network::Round& round, const Pmpi& pmpi, MPI_Comm comm) noexcept;
  int end_trial(const Pmpi& pmpi, MPI_Comm comm) noexcept;
  void report(const Trial::Verdict& verdict) const;

  std::vector<Schedule> schedules_;
  std::vector<MPI_Request> requests_;  // room for one round
  std::optional<Trial> trial_;
  std::size_t way_ = 0;  // when there is no trial
  std::uint32_t size_ = 0;
  bool reports_ = false;
};

}  // namespace hierbar::mpi
