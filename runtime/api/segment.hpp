// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "api/design.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/thread_host.hpp"
#include "hierbar/hierbar.h"

namespace hierbar {

using ApiMem = RealMem<ThreadHost>;

// The memory of one barrier, private or shared, at whatever address each process sees it:
//
//     0              +----------------------------------------------+
//                    | SegmentHeader                                |  written once, except `aborted`
//     spots_offset   +----------------------------------------------+
//                    | ParkingSpot [num_participants]               |
//     lines_offset   +----------------------------------------------+  on a page, because slots are laid out by pages
//                    | lines of the barrier                         |
//     nodes_offset   +----------------------------------------------+
//                    | hierbar_plan_node [num_participants]         |  the plan. Behind the lines, so that the last word of the
//                    | children [num_participants - num_leaders]    |  segment is one that its maker wrote: looking whether it
//                    | leaders [num_leaders]                        |  is there touches no page first that others should
//     size_bytes     +----------------------------------------------+
//
// Offsets and fixed-width types only. A process copies the plan when it attaches, and checks the copy; afterwards it reads
// nothing from here that could lead it out of the segment.
struct SegmentHeader {
  std::atomic<std::uint64_t> magic;  // writer: the maker, last (release). Readers: those who attach, first (acquire)
  std::uint32_t abi_version;         // stays here in all versions
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
  WaitLimits limits;  // for those who bring none; sleep_limit_ns 0: nobody may sleep
  std::uint32_t num_cpus;
  std::uint32_t algorithm;  // Algorithm
  std::uint32_t num_crews;
  AbortFlag aborted;  // writers: whoever aborts. Readers: everybody, in each wait
};
inline constexpr std::uint64_t kSegmentMagic = 0x7261'6272'6569'6800;  // "\0hierbar" in memory, where little-endian
inline constexpr std::uint32_t kSegmentAbiVersion = 2;
static_assert(sizeof(SegmentHeader) == 128 && sizeof(SegmentHeader) <= HIERBAR_MEMORY_ALIGNMENT);
static_assert(offsetof(SegmentHeader, abi_version) == 8);
static_assert(AbortFlag::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(hierbar_plan_node) == 24);

// What decides how large the parts of a segment are, and where they are then.
struct SegmentLayout {
  std::uint64_t spots_offset;
  std::uint64_t lines_offset;
  std::uint64_t nodes_offset;
  std::uint64_t children_offset;
  std::uint64_t leaders_offset;
  std::uint64_t size_bytes;
};

// Reads the plan's numbers only, which must be in the ranges that plans have.
SegmentLayout segment_layout(Algorithm algorithm, const hierbar_plan& plan);

// A mapped segment.
class Segment {
 public:
  explicit Segment(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(memory_); }
  ParkingSpot* spots(const SegmentLayout& layout) const { return reinterpret_cast<ParkingSpot*>(memory_ + layout.spots_offset); }
  void* lines(const SegmentLayout& layout) const { return memory_ + layout.lines_offset; }

  // Makes a segment in `size` zero bytes. HIERBAR_OK, HIERBAR_ERR_TOO_SMALL or HIERBAR_ERR_IN_USE.
  hierbar_status write(std::size_t size, const BarrierDesign& design) const;

  // Copies what is in `size` bytes, of which nothing is believed, and checks the copy. The statuses of hierbar_barrier_attach().
  hierbar_status read(std::size_t size, BarrierDesign& design) const;

 private:
  hierbar_status read_header(std::size_t size, BarrierDesign& design, hierbar_plan& numbers) const;

  std::byte* memory_;
};

// Makes all pages of the memory present. False: one cannot be had.
bool populate(void* memory, std::size_t size);

}  // namespace hierbar
