// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "api/segment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>

#include "base/futex.hpp"
#include "plan/soundness.hpp"

namespace hierbar {
namespace {

// Not the process's page size, because all processes must find the same layout.
constexpr std::uint64_t kLinesAlignment = 4096;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Whether the word can be written. A mapping may be longer than the file behind it, and the file
// system may have no room for the page; a load or store would then end the process. So the kernel
// adds 0 to the word atomically, and returns an error instead. A sleeper on the word would be woken
// for no reason.
bool can_be_written(std::byte* word) {
  constexpr std::uint32_t kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0);
  return syscall(kFutexCall, word, FUTEX_WAKE_OP, 0, nullptr, word, kAddNothing) >= 0 ||
         (errno != EFAULT && errno != ENOMEM);
}

hierbar_plan plan_numbers(const SegmentHeader& header) {
  return hierbar_plan{HIERBAR_PLAN_ABI_VERSION,
                      header.num_participants,
                      header.num_leaders,
                      header.num_slots,
                      header.release,
                      header.line_bytes,
                      header.depth,
                      0,
                      header.num_crews,
                      nullptr,
                      nullptr,
                      nullptr};
}

}  // namespace

// The kernel writes to each page without changing it. madvise(MADV_POPULATE_WRITE) would do as
// well, but exists since Linux 5.14 only.
bool populate(void* memory, std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(memory) % page;
  auto* const bytes = static_cast<std::byte*>(memory);
  for (std::size_t offset = 0; offset < size; offset += page - (offset == 0 ? into_page : 0)) {
    if (!can_be_written(bytes + offset)) return false;
  }
  return true;
}

SegmentLayout segment_layout(const BarrierDesign& design, const hierbar_plan& plan) {
  SegmentLayout layout{};
  layout.spots_offset = rounded_up(sizeof(SegmentHeader), alignof(ParkingSpot));
  layout.lines_offset =
      rounded_up(layout.spots_offset + std::uint64_t{plan.num_participants} * sizeof(ParkingSpot),
                 kLinesAlignment);
  layout.nodes_offset = layout.lines_offset + barrier_size_bytes<ApiMem>(design.algorithm, plan);
  if (design.has_collectives) {
    layout.collectives_offset = rounded_up(layout.nodes_offset, kLinesAlignment);
    layout.one_way_offset = rounded_up(
        layout.collectives_offset + Collectives<ApiMem>::size_bytes(plan), kLinesAlignment);
    layout.nodes_offset = layout.one_way_offset + OneWay<ApiMem>::size_bytes(plan);
  }
  layout.children_offset =
      layout.nodes_offset + std::uint64_t{plan.num_participants} * sizeof(hierbar_plan_node);
  layout.leaders_offset =
      layout.children_offset +
      std::uint64_t{plan.num_participants - plan.num_leaders} * sizeof(std::uint32_t);
  layout.size_bytes =
      layout.leaders_offset + std::uint64_t{plan.num_leaders} * sizeof(std::uint32_t);
  return layout;
}

hierbar_status BarrierSegment::write(std::size_t size, const BarrierDesign& design) const {
  const hierbar_plan plan = design.plan.view();
  const SegmentLayout layout = segment_layout(design, plan);
  if (size < layout.size_bytes || !can_be_written(memory_) ||
      !can_be_written(memory_ + layout.size_bytes - sizeof(std::uint32_t))) {
    return HIERBAR_ERR_TOO_SMALL;
  }
  if (std::any_of(memory_, memory_ + layout.spots_offset,
                  [](std::byte byte) { return byte != std::byte{0}; })) {
    return HIERBAR_ERR_IN_USE;
  }
  std::copy_n(plan.nodes, plan.num_participants,
              reinterpret_cast<hierbar_plan_node*>(memory_ + layout.nodes_offset));
  std::copy_n(plan.children, plan.num_participants - plan.num_leaders,
              reinterpret_cast<std::uint32_t*>(memory_ + layout.children_offset));
  std::copy_n(plan.leaders, plan.num_leaders,
              reinterpret_cast<std::uint32_t*>(memory_ + layout.leaders_offset));
  SegmentHeader& header = this->header();
  header.abi_version = kSegmentAbiVersion;
  header.header_bytes = sizeof(SegmentHeader);
  header.size_bytes = layout.size_bytes;
  header.num_participants = plan.num_participants;
  header.num_leaders = plan.num_leaders;
  header.num_slots = plan.num_slots;
  header.line_bytes = plan.line_bytes;
  header.release = plan.release;
  header.depth = plan.depth;
  header.num_crews = plan.num_crews;
  header.spots_offset = layout.spots_offset;
  header.lines_offset = layout.lines_offset;
  header.nodes_offset = layout.nodes_offset;
  header.children_offset = layout.children_offset;
  header.leaders_offset = layout.leaders_offset;
  header.limits = design.limits;
  header.num_cpus = design.num_cpus;
  header.algorithm = static_cast<std::uint16_t>(design.algorithm);
  header.has_collectives = design.has_collectives ? 1 : 0;
  // (M1) release; pairs with (M2). Whoever sees the magic number sees everything above.
  header.magic.store(kSegmentMagic, std::memory_order_release);
  return HIERBAR_OK;
}

// Everything is copied before it is checked, because another process may write to the segment.
hierbar_status BarrierSegment::read_header(std::size_t size, BarrierDesign& design,
                                           hierbar_plan& numbers) const {
  if (size < sizeof(SegmentHeader) || !can_be_written(memory_)) return HIERBAR_ERR_TOO_SMALL;
  const SegmentHeader& header = this->header();
  // (M2) acquire; pairs with (M1).
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);  // (M2)
  if (magic == 0) return HIERBAR_ERR_NOT_READY;
  if (magic != kSegmentMagic) return HIERBAR_ERR_FOREIGN;
  if (header.abi_version != kSegmentAbiVersion || header.header_bytes != sizeof(SegmentHeader))
    return HIERBAR_ERR_VERSION;

  const std::uint32_t algorithm_number = header.algorithm;
  const std::uint32_t has_collectives = header.has_collectives;
  numbers = plan_numbers(header);
  design.limits = header.limits;
  design.num_cpus = header.num_cpus;
  if (!has_possible_numbers(numbers) || !limits_problem(design.limits).empty() ||
      algorithm_number >= std::size(kAlgorithms) || has_collectives > 1 ||
      (has_collectives == 1 && numbers.num_participants > HIERBAR_MAX_COLLECTIVE_PARTICIPANTS)) {
    return HIERBAR_ERR_CORRUPT;
  }
  design.has_collectives = has_collectives == 1;
  design.algorithm = static_cast<Algorithm>(algorithm_number);
  const SegmentLayout layout = segment_layout(design, numbers);
  if (header.spots_offset != layout.spots_offset || header.lines_offset != layout.lines_offset ||
      header.nodes_offset != layout.nodes_offset ||
      header.children_offset != layout.children_offset ||
      header.leaders_offset != layout.leaders_offset || header.size_bytes != layout.size_bytes) {
    return HIERBAR_ERR_CORRUPT;
  }
  if (size < layout.size_bytes ||
      !can_be_written(memory_ + layout.size_bytes - sizeof(std::uint32_t))) {
    return HIERBAR_ERR_TOO_SMALL;
  }
  return HIERBAR_OK;
}

hierbar_status BarrierSegment::read(std::size_t size, BarrierDesign& design) const {
  hierbar_plan numbers{};
  if (const hierbar_status status = read_header(size, design, numbers); status != HIERBAR_OK)
    return status;
  const SegmentLayout layout = segment_layout(design, numbers);
  const auto* nodes = reinterpret_cast<const hierbar_plan_node*>(memory_ + layout.nodes_offset);
  const auto* children = reinterpret_cast<const std::uint32_t*>(memory_ + layout.children_offset);
  const auto* leaders = reinterpret_cast<const std::uint32_t*>(memory_ + layout.leaders_offset);
  EnginePlan& plan = design.plan;
  plan.nodes.assign(nodes, nodes + numbers.num_participants);
  plan.children.assign(children, children + (numbers.num_participants - numbers.num_leaders));
  plan.leaders.assign(leaders, leaders + numbers.num_leaders);
  plan.num_slots = numbers.num_slots;
  plan.line_bytes = numbers.line_bytes;
  plan.depth = numbers.depth;
  plan.num_crews = numbers.num_crews;
  plan.release = static_cast<hierbar_release_kind>(numbers.release);
  return is_sound(plan.view()) ? HIERBAR_OK : HIERBAR_ERR_CORRUPT;
}

}  // namespace hierbar
