// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::mpi {

// A place for the barrier of a node, which the node's leader offers to its members. It is sent as
// plain bytes.
struct Offer {
  std::uint32_t first_unit;
  std::uint32_t num_units;  // 0: there is none
  // The plan lies here. It is read before the verdict and not after it.
  std::uint32_t image_unit;
  std::uint32_t num_image_units;
  std::uint64_t generation;
  // The Algorithm for which the block was made.
  std::uint32_t algorithm;
  // The leaders' communicator that this leader would use again. 0: none.
  std::uint64_t leaders_id;
  // The id of a new leaders' communicator. Rank 0's offer counts.
  std::uint64_t new_leaders_id;
  // code_of() the schedules by which the leaders meet; 0 behind the last. Rank 0's offer counts,
  // here and below.
  std::uint32_t meetings[3];
  // 1: a trial chooses between them and the MPI library's barrier. 0: the first one is used.
  std::uint32_t is_trial;
};

}  // namespace hierbar::mpi
