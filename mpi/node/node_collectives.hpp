// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "barrier/collectives.hpp"
#include "mpi/node/node_barrier.hpp"

namespace hierbar::mpi {

// The collectives with data among a communicator's ranks, which are all on one node, as one of the
// ranks uses them. They have memory of their own in the segment. All else is the communicator's
// barrier's: its plan, where its ranks sleep, and the count of ranks that still use it.
//
// 1. claim()  Participant 0 claims the memory, and tells the others which unit is the first.
// 2. clear()  Each rank allocates and clears its own parts.
// 3. Before the first collective all ranks agree that 2 has succeeded in each of them. If not,
//    participant 0 gives the memory back.
// 4. release()  Whoever is the last to detach from the barrier gives the memory back. A rank may
//    free the communicator while others still copy their results.
class NodeCollectives {
 public:
  using Engine = Collectives<RankMem>;

  static constexpr std::size_t kMostBytes = Engine::kMostBytes;
  static constexpr std::uint32_t kMostRanks = Engine::kMostParticipants;

  struct Place {
    std::uint32_t first_unit;
    std::uint32_t num_units;  // 0: there is none
  };

  static std::uint32_t num_units(const hierbar_plan& plan) noexcept {
    return NodeSegment::units_for(Engine::size_bytes(plan));
  }

  // Returns a place without units if the segment is full.
  static Place claim(const NodeBarrier& node) noexcept {
    const auto page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    const std::uint32_t units = num_units(node.plan());
    const auto first = node.block().segment().units().claim(
        units, BarrierBlock::alignment(node.plan(), page_bytes));
    return first ? Place{*first, units} : Place{};
  }

  // `node` must outlive the object.
  NodeCollectives(const NodeBarrier& node, const Place& place) noexcept
      : node_(node),
        place_(place),
        engine_(node.plan(), memory(), node.fencing()),
        lines_(memory(), node.plan().line_bytes) {}
  NodeCollectives(const NodeCollectives&) = delete;
  NodeCollectives& operator=(const NodeCollectives&) = delete;

  // Returns false if no memory is left.
  bool clear() const noexcept {
    for (const Engine::Part& part : Engine::parts_of(node_.plan(), node_.me())) {
      if (!node_.block().segment().clear(place_.first_unit, part.offset, part.bytes)) return false;
    }
    return true;
  }

  void release() const noexcept {
    node_.block().segment().units().release(place_.first_unit, place_.num_units);
  }

  // `in` may be `out`. Requires count * element_bytes <= kMostBytes.
  template <class Fold>
  WaitResult allreduce(const Waiting& waiting, const WaitDuties& duties, const void* in, void* out,
                       std::size_t count, std::size_t element_bytes,
                       const Fold& fold) const noexcept {
    RankHost host(node_.block(), node_.me(), waiting, duties);
    RankMem mem(host);
    return engine_.allreduce(mem, node_.me(), in, out, count, element_bytes, fold);
  }

  // Whether a participant has entered the collective in which this rank is.
  bool has_entered(std::uint32_t participant) const noexcept {
    return mpi::has_entered(node_.plan(), lines_, participant, node_.me());
  }

 private:
  void* memory() const noexcept { return node_.block().segment().unit(place_.first_unit); }

  const NodeBarrier& node_;
  Place place_;
  Engine engine_;
  BarrierMemory<RankMem::Word> lines_;
};

}  // namespace hierbar::mpi
