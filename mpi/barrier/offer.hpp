// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "mpi/between/leader_comm.hpp"

namespace hierbar::mpi {

// A place for the barrier of a node, which the node's leader offers to its members. It is sent as
// plain bytes.
struct Offer {
  std::uint32_t first_unit;
  std::uint32_t num_units;  // 0: there is none
  // 1: there is none because the segment of earlier communicators has no room; a new one is to be
  // made.
  std::uint32_t is_full;
  // The plan and the peers lie here, as long as the block is used.
  std::uint32_t image_unit;
  std::uint32_t num_image_units;
  std::uint64_t generation;
  // The Algorithm for which the block was made.
  std::uint32_t algorithm;
  // A Fencing.
  std::uint32_t fencing;
  // 1: this leader may have another leaders' communicator.
  std::uint32_t has_room;
  // The leaders' communicators that this leader has. 0: none.
  std::uint64_t known_leaders[4];
  // A bit for each of them: nobody here uses its collectives.
  std::uint32_t with_collectives;
  // code_of() the schedule of who meets by messages only. Rank 0's offer counts, here and below.
  std::uint32_t by_messages;
  LeaderChoice leaders;
  // The id of a new leaders' communicator.
  std::uint64_t new_leaders_id;
  // code_of() the schedules by which the leaders meet; 0 behind the last.
  std::uint32_t meetings[3];
  // 1: a trial chooses between them and the MPI library's barrier. 0: the first one is used.
  std::uint32_t is_trial;
};

}  // namespace hierbar::mpi
