// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The image of a plan that one rank writes into shared memory and the others read. The first byte
// says for how many ranks.

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz_target.hpp"
#include "mpi/node/plan_image.hpp"
#include "plan/soundness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  if (size == 0) return 0;
  const std::uint32_t num_ranks = data[0] + 1U;
  // As large as readers rely on: as the image of any plan for so many.
  hierbar_plan numbers{};
  numbers.num_participants = num_ranks;
  std::vector<std::byte> image(mpi::plan_image_bytes(numbers));
  std::memcpy(image.data(), data + 1, std::min(size - 1, image.size()));

  const std::optional<mpi::ReadPlan> copied = mpi::ReadPlan::copy(image.data(), num_ranks);
  if (!copied) return 0;
  const hierbar_plan& plan = copied->plan();
  test::require(plan.num_participants == num_ranks, "a plan is for those who read it");
  test::require(is_sound(plan), "a plan that is accepted is sound");
  std::vector<std::byte> written(mpi::plan_image_bytes(plan));
  mpi::write_plan_image(plan, written.data());
  const std::optional<mpi::ReadPlan> again = mpi::ReadPlan::copy(written.data(), num_ranks);
  test::require(again && std::equal(plan.nodes, plan.nodes + num_ranks, again->plan().nodes,
                                    [](const hierbar_plan_node& a, const hierbar_plan_node& b) {
                                      return std::memcmp(&a, &b, sizeof a) == 0;
                                    }),
                "what is accepted can be passed on");
  return 0;
}
