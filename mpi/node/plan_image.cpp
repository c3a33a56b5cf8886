// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/plan_image.hpp"

#include <cstring>

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

const std::byte* copy(void* target, const std::byte* source, std::size_t bytes) {
  if (bytes != 0) std::memcpy(target, source, bytes);
  return source + bytes;
}

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

std::optional<PlanCopy> PlanCopy::read(const void* image, std::uint32_t num_participants) {
  PlanCopy copied;
  hierbar_plan& plan = copied.plan_;
  const std::byte* at = copy(&plan, static_cast<const std::byte*>(image), sizeof(plan));
  if (plan.abi_version != HIERBAR_PLAN_ABI_VERSION || plan.num_participants != num_participants ||
      plan.num_leaders > num_participants) {
    return std::nullopt;
  }
  const Extent extent(plan);
  copied.nodes_.resize(num_participants);
  copied.leaders_.resize(plan.num_leaders);
  copied.children_.resize(num_participants - plan.num_leaders);
  at = copy(copied.nodes_.data(), at, extent.nodes);
  at = copy(copied.leaders_.data(), at, extent.leaders);
  copy(copied.children_.data(), at, extent.children);
  plan.nodes = copied.nodes_.data();
  plan.leaders = copied.leaders_.data();
  plan.children = copied.children_.data();
  if (!is_sound(plan)) return std::nullopt;
  return copied;
}

}  // namespace hierbar::mpi
