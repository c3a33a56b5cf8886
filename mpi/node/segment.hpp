// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/result.hpp"
#include "base/shared_calls.hpp"
#include "mpi/node/binding.hpp"
#include "mpi/node/segment_allocator.hpp"

namespace hierbar::mpi {

// Memory that the ranks of one node share, for all communicators among them:
//
//  +--------+---------------------+------------------+---- page ----+------+------+---- ... ----+
//  | header | member table        | unit map         | (padding)    | unit | unit | num_units   |
//  |        | one Member per rank | one bit per unit |              |      |      |             |
//  +--------+---------------------+------------------+--------------+------+------+---- ... ----+
//
// A communicator's block is a run of units.
//
// The name under /dev/shm exists only from create() to unlink(), while the members join. It
// contains the creator's process. So a later start can remove the name if the creator was killed in
// between (sweep_segments()).
//
// No page is used before it is allocated: create() allocates the pages of the head, populate()
// those of a block. So a full /dev/shm is an error there, and never a SIGBUS later. populate() also
// puts a page on the NUMA node of the rank that calls it (docs/design/mpi-setup.md#d0032).
//
// Processes may map a segment at different addresses, so it holds offsets and indices only.
class NodeSegment {
 public:
  static constexpr std::uint32_t kUnitBytes = 512;
  // As many as hold so many bytes.
  static std::uint32_t units_for(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
  }

  struct Member {
    ProcessName process;
    Binding binding;
  };

  // Creates and maps a segment of about `bytes` for num_members ranks. The others join() it by its
  // name.
  static Result<std::unique_ptr<NodeSegment>> create(std::uint32_t num_members, std::size_t bytes);
  // The same for this process alone: it has no name, and needs no room under /dev/shm.
  static Result<std::unique_ptr<NodeSegment>> create_private(std::uint32_t num_members,
                                                             std::size_t bytes);
  // Maps the segment that another rank has created. Fails if the name is missing, if others than
  // this user may use the file, or if its contents are not those of `id`: then the two processes do
  // not see the same /dev/shm.
  static Result<std::unique_ptr<NodeSegment>> join(const std::string& name, std::uint64_t id,
                                                   std::uint32_t num_members);
  // Removes the name, if this process has created it and has not removed it yet.
  void unlink();
  ~NodeSegment();
  NodeSegment(const NodeSegment&) = delete;
  NodeSegment& operator=(const NodeSegment&) = delete;

  const std::string& name() const { return name_; }
  std::uint64_t id() const;
  std::uint32_t num_members() const { return num_members_; }
  // The entry of a member, which that member writes before any other reads it. The caller
  // synchronises the two.
  Member& member(std::uint32_t index) const;

  SegmentAllocator units() const;
  void* unit(std::uint32_t index) const;
  // Allocates the pages of a run of units on the NUMA node of the calling thread. Pages that exist
  // stay. Returns false if no memory is left.
  bool populate(std::uint32_t first, std::uint32_t count) const;
  // The same for `bytes` bytes, `offset` bytes behind the beginning of a unit, and sets them to 0.
  bool clear(std::uint32_t unit, std::size_t offset, std::size_t bytes) const;

  std::uint64_t next_generation() const;
  // Returns true for the first caller among all members. That one reports that the segment is full.
  bool claim_first_to_run_out() const;
  // For fence_processes() by its members.
  SharedCalls& fences() const;

 private:
  struct Header;
  struct Layout;
  NodeSegment(std::byte* memory, const Layout& layout, std::string name, bool owns_name);
  void fill_header(std::uint64_t id, bool populates_late);
  Header& header() const;

  // The layout is known from the start and never read from the memory again: the memory may be
  // damaged, and an offset must not lead out of it.
  std::byte* memory_;
  std::uint32_t num_members_;
  std::uint32_t num_units_;
  std::size_t map_offset_;
  std::size_t units_offset_;
  std::size_t bytes_;
  std::string name_;
  bool owns_name_;
};

// Removes the names of segments whose creators are no longer alive: processes of this user and this
// pid namespace that were killed while they set up. Returns how many it removed.
int sweep_segments();

// A segment that this process has joined, and the number by which the segment knows the process.
struct Membership {
  std::shared_ptr<NodeSegment> segment;
  std::uint32_t index = 0;
};

// The segments that this process may use for new communicators: the last few that it has joined.
// Older ones exist as long as a communicator uses them. Thread-safe.
class Memberships {
 public:
  static constexpr std::size_t kKept = 4;

  std::vector<Membership> newest_first() const {
    const std::lock_guard lock(mutex_);
    return {kept_.begin(), kept_.end()};
  }

  void add(Membership membership) {
    const std::lock_guard lock(mutex_);
    kept_.push_front(std::move(membership));
    if (kept_.size() > kKept) kept_.pop_back();
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Membership> kept_;
};

}  // namespace hierbar::mpi
