// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mpi/binding.hpp"
#include "mpi/unit_map.hpp"
#include "placement/process_name.hpp"
#include "topology/result.hpp"

namespace hierbar::mpi {

// Memory that the ranks of one node share, for all communicators among them:
//
//    +--------+---------------------+------------------+---- page ----+------+------+------ ... ------+
//    | header | member table        | unit map         | (padding)    | unit | unit |  num_units      |
//    |        | one Member per rank | one bit per unit |              |      |      |                 |
//    +--------+---------------------+------------------+--------------+------+------+------ ... ------+
//
// A communicator's block is a run of units. The name under /dev/shm exists only between create() and unlink(), while the members
// join; it says whose it is, so that a later start can sweep what a killed process left in that moment. No memory is used before
// it is known to exist: head pages are allocated by create(), a block's by populate(), so a full /dev/shm is an error there and
// never a SIGBUS later. populate() is also what puts a page on the NUMA node of the rank that calls it.
//
// Segments may be mapped at different addresses; only offsets and indices are shared.
class Segment {
 public:
  static constexpr std::uint32_t kUnitBytes = 512;

  struct Member {
    ProcessName process;
    Binding binding;
  };

  // Creates and maps a segment of about `bytes` for num_members ranks. The name is for the others' join().
  static Result<std::unique_ptr<Segment>> create(std::uint32_t num_members, std::size_t bytes);
  // Maps what another rank has created. Fails when the name is missing, is not that of a file which
  // only this user may use, or its contents are not those of `id`: then the two processes do not
  // see the same /dev/shm.
  static Result<std::unique_ptr<Segment>> join(const std::string& name, std::uint64_t id, std::uint32_t num_members);
  // Removes the name, if this process created it and it is still there.
  void unlink();
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  const std::string& name() const { return name_; }
  std::uint64_t id() const;
  std::uint32_t num_members() const { return num_members_; }
  // Each member writes its own entry before any reads it; what comes between is the caller's synchronisation.
  Member& member(std::uint32_t index) const;

  UnitMap units() const;
  void* unit(std::uint32_t index) const;
  // Allocates the pages of a run of units on the calling thread's NUMA node, except those that are there already. False: no
  // memory is left.
  bool populate(std::uint32_t first, std::uint32_t count) const;

  std::uint64_t next_generation() const;
  // True for the first caller of all members: that one says that the segment is full.
  bool is_first_to_run_out() const;

 private:
  struct Header;
  struct Layout;
  Segment(std::byte* memory, const Layout& layout, std::string name, bool owns_name);
  Header& header() const;

  // Where things are is known from the start and never read from the memory again: it may be damaged, and they must not lead out.
  std::byte* memory_;
  std::uint32_t num_members_;
  std::uint32_t num_units_;
  std::size_t map_offset_;
  std::size_t units_offset_;
  std::size_t bytes_;
  std::string name_;
  bool owns_name_;
};

// Removes the names of segments whose creators are no longer alive: left by processes of this user and pid namespace that were
// killed while they set up. Returns how many.
int sweep_segments();

}  // namespace hierbar::mpi
