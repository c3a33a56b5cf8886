// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::mpi {

// A place for a node's barrier, from its leader to its members. Plain bytes on the wire.
struct Offer {
  std::uint32_t first_unit;
  std::uint32_t num_units;   // 0: there is none
  std::uint32_t image_unit;  // the plan is read from here before the verdict, and not after
  std::uint32_t num_image_units;
  std::uint64_t generation;
  std::uint64_t leaders_id;      // the leaders' communicator that this leader would use again; 0: none
  std::uint64_t new_leaders_id;  // what a new one is called, by rank 0's offer
};

}  // namespace hierbar::mpi
