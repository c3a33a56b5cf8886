// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace hierbar::mpi {

// A plan as a flat image without pointers: one rank makes the plan, because ranks may see different machines and settings, and
// the others read it from shared memory.
std::size_t plan_image_bytes(const hierbar_plan& plan);
void write_plan_image(const hierbar_plan& plan, void* image);

// A plan with its own arrays. Not copyable because the plan points into it.
class PlanCopy {
 public:
  // Reads as many bytes as the image of any plan for so many has. Nothing when it is of another version or for another number of
  // participants, or when the plan is not sound: the memory may be damaged, and a barrier follows every index in its plan.
  static std::optional<PlanCopy> read(const void* image, std::uint32_t num_participants);

  PlanCopy(PlanCopy&&) = default;  // vectors keep their arrays when they move
  PlanCopy& operator=(PlanCopy&&) = default;

  const hierbar_plan& plan() const noexcept { return plan_; }

 private:
  PlanCopy() = default;

  hierbar_plan plan_{};
  std::vector<hierbar_plan_node> nodes_;
  std::vector<std::uint32_t> children_;
  std::vector<std::uint32_t> leaders_;
};

}  // namespace hierbar::mpi
