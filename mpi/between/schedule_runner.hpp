// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/library/pmpi.hpp"
#include "network/schedule.hpp"

namespace hierbar::mpi {

// Runs schedules of messages on the leaders' communicator, as one leader.
//
// Messages are empty. A message of one byte, the mark, says that the meeting has failed in its
// sender, or in somebody from whom the sender has heard. A leader that gets a mark marks all that
// it sends later in this meeting. So no leader takes a meeting for complete because of messages
// from one that could not wait for the others, and none waits for messages that such a leader
// leaves out.
//
// Requires that one thread at a time runs schedules on a communicator with one tag, and that all
// leaders run the same ones in the same order. A leader that cannot send a message at all leaves
// its receiver waiting, as a leader would that fails in the library's barrier before it has told
// anybody.
class ScheduleRunner {
 public:
  // All messages have this tag. The messages from one leader to another are taken in the order in
  // which they were sent, and every schedule uses up its messages, so one tag serves for all
  // meetings.
  explicit ScheduleRunner(int tag = 0) : tag_(tag) {}

  // Before a schedule is run for the first time: makes room for its rounds.
  void prepare(const std::vector<network::Round>& rounds);

  // One meeting. Returns MPI_SUCCESS if all leaders have come, otherwise MPI's error.
  //
  // After an error of the library in this leader, it is unknown which of its messages have come. So
  // it receives nothing any more, and fails in each later meeting too.
  int run(const std::vector<network::Round>& rounds, const Pmpi& pmpi, MPI_Comm comm) noexcept;

 private:
  int run_round(const network::Round& round, bool has_failed, const Pmpi& pmpi,
                MPI_Comm comm) noexcept;
  void abandon(std::size_t num_receives, std::size_t num_requests, const Pmpi& pmpi) noexcept;

  // Of one round: the receives, then the sends.
  std::vector<MPI_Request> requests_;
  // What its receives have brought; an empty message leaves 0.
  std::vector<unsigned char> marks_;
  int broken_ = MPI_SUCCESS;
  int tag_;
};

}  // namespace hierbar::mpi
