// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace hierbar::mpi {

// A plan as a flat image without pointers. One rank of a node makes the plan, because ranks may see
// different machines and have different settings. The others read it from shared memory
// (docs/design/mpi-setup.md#d0033).
std::size_t plan_image_bytes(const hierbar_plan& plan);
void write_plan_image(const hierbar_plan& plan, void* image);

// A plan that was read from an image: a copy with arrays of its own, or the image itself. It cannot
// be copied, because the plan points into the arrays.
class ReadPlan {
 public:
  // Reads the image of a plan for `num_participants`: as many bytes as any plan for that many has.
  // Returns nothing if the image is of another version or for another number of participants, or if
  // the plan is not sound. The memory may be damaged, and a barrier follows every index in its
  // plan.
  static std::optional<ReadPlan> copy(const void* image, std::uint32_t num_participants);
  // The same, but the plan's arrays are those of the image, which must stay as it is for as long as
  // the plan is used. All processes of a node can use one image, so that its memory does not grow
  // with the square of their number.
  static std::optional<ReadPlan> in_place(const void* image, std::uint32_t num_participants);

  // A vector keeps its array when it is moved.
  ReadPlan(ReadPlan&&) = default;
  ReadPlan& operator=(ReadPlan&&) = default;

  const hierbar_plan& plan() const noexcept { return plan_; }

 private:
  ReadPlan() = default;

  hierbar_plan plan_{};
  std::vector<std::byte> image_;  // of a copy
};

}  // namespace hierbar::mpi
