// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/plan_image.hpp"

#include <cstring>
#include <utility>

#include "plan/soundness.hpp"

namespace hierbar::mpi {
namespace {

// The image consists of the plan itself with null pointers, the nodes, the leaders and the
// children.
struct Extent {
  std::size_t nodes, children, leaders;  // bytes

  explicit Extent(const hierbar_plan& plan)
      : nodes(sizeof(hierbar_plan_node) * plan.num_participants),
        children(sizeof(std::uint32_t) * (plan.num_participants - plan.num_leaders)),
        leaders(sizeof(std::uint32_t) * plan.num_leaders) {}
};

}  // namespace

std::size_t plan_image_bytes(const hierbar_plan& plan) {
  const Extent extent(plan);
  return sizeof(hierbar_plan) + extent.nodes + extent.children + extent.leaders;
}

void write_plan_image(const hierbar_plan& plan, void* image) {
  const Extent extent(plan);
  hierbar_plan head = plan;
  head.nodes = nullptr;
  head.children = nullptr;
  head.leaders = nullptr;
  auto* at = static_cast<std::byte*>(image);
  std::memcpy(at, &head, sizeof(head));
  std::memcpy(at += sizeof(head), plan.nodes, extent.nodes);
  std::memcpy(at += extent.nodes, plan.leaders, extent.leaders);
  if (extent.children != 0) std::memcpy(at + extent.leaders, plan.children, extent.children);
}

std::optional<ReadPlan> ReadPlan::in_place(const void* image, std::uint32_t num_participants) {
  ReadPlan read;
  hierbar_plan& plan = read.plan_;
  const auto* at = static_cast<const std::byte*>(image);
  std::memcpy(&plan, at, sizeof(plan));
  if (plan.abi_version != HIERBAR_PLAN_ABI_VERSION || plan.num_participants != num_participants ||
      plan.num_leaders > num_participants) {
    return std::nullopt;
  }
  const Extent extent(plan);
  plan.nodes = reinterpret_cast<const hierbar_plan_node*>(at += sizeof(plan));
  plan.leaders = reinterpret_cast<const std::uint32_t*>(at += extent.nodes);
  plan.children = reinterpret_cast<const std::uint32_t*>(at + extent.leaders);
  if (!is_sound(plan)) return std::nullopt;
  return read;
}

// Checked as a copy: the memory may change meanwhile.
std::optional<ReadPlan> ReadPlan::copy(const void* image, std::uint32_t num_participants) {
  hierbar_plan head;
  std::memcpy(&head, image, sizeof(head));
  if (head.num_participants != num_participants || head.num_leaders > num_participants)
    return std::nullopt;
  std::vector<std::byte> own(plan_image_bytes(head));
  std::memcpy(own.data(), image, own.size());
  std::optional<ReadPlan> read = in_place(own.data(), num_participants);
  if (read) read->image_ = std::move(own);
  return read;
}

}  // namespace hierbar::mpi
