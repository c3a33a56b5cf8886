// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "api/design.hpp"
#include "barrier/collectives.hpp"
#include "barrier/one_way.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/thread_host.hpp"
#include "hierbar/hierbar.h"

namespace hierbar {

using ApiMem = RealMem<ThreadHost>;

// The collectives of a barrier. They have memory of their own, so they and the barrier's episodes
// may come in any order.
struct ApiCollectives {
  Collectives<ApiMem> of_all;
  OneWay<ApiMem> one_way;
};
static_assert(HIERBAR_MAX_COLLECTIVE_BYTES == Collectives<ApiMem>::kMostBytes &&
              HIERBAR_MAX_COLLECTIVE_BYTES == OneWay<ApiMem>::kMostBytes);
static_assert(HIERBAR_MAX_COLLECTIVE_PARTICIPANTS == Collectives<ApiMem>::kMostParticipants &&
              HIERBAR_MAX_COLLECTIVE_PARTICIPANTS == OneWay<ApiMem>::kMostParticipants);

// The memory of one barrier, private or shared. Each process may map it at another address.
//
//     0              +----------------------------------------------+
//                    | SegmentHeader                                |  only `aborted` changes
//     spots_offset   +----------------------------------------------+
//                    | ParkingSpot [num_participants]               |
//     lines_offset   +----------------------------------------------+
//                    | lines of the barrier                         |
//                    | lines and data of Collectives, of OneWay     |  if there are collectives
//     nodes_offset   +----------------------------------------------+
//                    | hierbar_plan_node [num_participants]         |  the plan
//                    | children [num_participants - num_leaders]    |
//                    | leaders [num_leaders]                        |
//     size_bytes     +----------------------------------------------+
//
// The lines begin on a page, because slots are laid out by pages. The plan comes last, so the last
// word of the segment is one that its maker wrote. To check that this word exists is no first use
// of a page that belongs to another participant (docs/design/engine.md#d0014).
//
// There are only offsets and types of fixed width. A process that attaches copies the plan and
// checks the copy. Afterwards it reads nothing from here that could lead it out of the segment.
struct SegmentHeader {
  // (M1), (M2). Writer: the maker, last. Readers: those who attach, first.
  std::atomic<std::uint64_t> magic;
  std::uint32_t abi_version;  // at this place in all versions
  std::uint32_t header_bytes;
  std::uint64_t size_bytes;
  std::uint32_t num_participants;
  std::uint32_t num_leaders;
  std::uint32_t num_slots;
  std::uint32_t line_bytes;
  std::uint32_t release;
  std::uint32_t depth;
  std::uint64_t spots_offset;
  std::uint64_t lines_offset;
  std::uint64_t nodes_offset;
  std::uint64_t children_offset;
  std::uint64_t leaders_offset;
  WaitLimits limits;  // for processes that bring none; sleep_limit_ns 0: nobody may sleep
  std::uint32_t num_cpus;
  std::uint16_t algorithm;        // Algorithm
  std::uint16_t has_collectives;  // 0, 1
  std::uint32_t num_crews;
  AbortFlag aborted;  // (X1), (X2), (X3). Writers: whoever aborts. Readers: all, in each wait
};
// "\0hierbar" in memory, on a little-endian machine.
inline constexpr std::uint64_t kSegmentMagic = 0x7261'6272'6569'6800;
inline constexpr std::uint32_t kSegmentAbiVersion = 3;
static_assert(sizeof(SegmentHeader) == 128 && sizeof(SegmentHeader) <= HIERBAR_MEMORY_ALIGNMENT);
static_assert(offsetof(SegmentHeader, abi_version) == 8);
static_assert(AbortFlag::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(hierbar_plan_node) == 24);

// Where the parts of a segment are, and its size.
struct SegmentLayout {
  std::uint64_t spots_offset;
  std::uint64_t lines_offset;
  std::uint64_t collectives_offset;  // with collectives
  std::uint64_t one_way_offset;      // with collectives
  std::uint64_t nodes_offset;
  std::uint64_t children_offset;
  std::uint64_t leaders_offset;
  std::uint64_t size_bytes;
};

// Of the design its algorithm and whether it has collectives, of the plan its numbers. They must be
// in range (has_possible_numbers()).
SegmentLayout segment_layout(const BarrierDesign& design, const hierbar_plan& plan);

// A mapped segment. It does not own the memory, which must be aligned to HIERBAR_MEMORY_ALIGNMENT.
class BarrierSegment {
 public:
  explicit BarrierSegment(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(memory_); }
  ParkingSpot* spots(const SegmentLayout& layout) const {
    return reinterpret_cast<ParkingSpot*>(memory_ + layout.spots_offset);
  }
  void* at(std::uint64_t offset) const { return memory_ + offset; }

  // Makes a segment in `size` zero bytes. Returns HIERBAR_OK, HIERBAR_ERR_TOO_SMALL or
  // HIERBAR_ERR_IN_USE.
  hierbar_status write(std::size_t size, const BarrierDesign& design) const;

  // Copies what is in `size` bytes and checks the copy; nothing in them is trusted. Returns the
  // statuses of hierbar_barrier_attach().
  hierbar_status read(std::size_t size, BarrierDesign& design) const;

 private:
  hierbar_status read_header(std::size_t size, BarrierDesign& design, hierbar_plan& numbers) const;

  std::byte* memory_;
};

// Makes all pages of the memory present. False: one of them cannot be allocated.
bool populate(void* memory, std::size_t size);

}  // namespace hierbar
