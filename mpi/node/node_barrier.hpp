// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mpi/node/planned_barrier.hpp"

namespace hierbar::mpi {

// The barrier of a communicator's ranks on one node, as one of them uses it.
//
// What all of them know alike lies in the segment once, for a communicator of P ranks takes P times
// as much in every one of them otherwise: the image of the plan, and behind it the peers.
// Participant 0 writes it before the others read it, and nobody changes it.
class NodeBarrier {
 public:
  struct Peer {
    int comm_rank;
    std::uint32_t member_index;  // in the segment
    bool operator==(const Peer&) const = default;
  };

  // Where the parts are in the segment, in units.
  struct Place {
    std::uint32_t block;
    std::uint32_t image;
    std::uint32_t num_image_units;
  };

  static std::size_t image_bytes(const hierbar_plan& plan) noexcept {
    return plan_image_bytes(plan) + sizeof(Peer) * plan.num_participants;
  }
  static void write_image(const hierbar_plan& plan, std::span<const Peer> peers, void* image) {
    write_plan_image(plan, image);
    std::memcpy(static_cast<std::byte*>(image) + plan_image_bytes(plan), peers.data(),
                peers.size_bytes());
  }

  // `plan` is the one at `place`, which is in the segment.
  NodeBarrier(ReadPlan plan, const std::shared_ptr<NodeSegment>& segment, const Place& place,
              std::uint32_t me, Algorithm algorithm, Fencing fencing)
      : barrier_(std::move(plan), segment, place.block, algorithm, fencing),
        peers_(reinterpret_cast<const Peer*>(
                   static_cast<const std::byte*>(segment->unit(place.image)) +
                   plan_image_bytes(barrier_.plan())),
               barrier_.plan().num_participants),
        place_(place),
        me_(me),
        fencing_(fencing) {}
  NodeBarrier(const NodeBarrier&) = delete;
  NodeBarrier& operator=(const NodeBarrier&) = delete;

  // This rank will not use it again. The last one frees the block, the plan and the peers, and is
  // told so.
  bool detach() const noexcept {
    if (!block().detach()) return false;
    block().segment().units().release(place_.image, place_.num_image_units);
    return true;
  }

  const hierbar_plan& plan() const noexcept { return barrier_.plan(); }
  const BarrierBlock& block() const noexcept { return barrier_.block(); }
  Algorithm algorithm() const noexcept { return block().algorithm(); }
  std::uint32_t me() const noexcept { return me_; }
  bool leads() const noexcept { return me_ == 0; }
  Fencing fencing() const noexcept { return fencing_; }
  std::span<const Peer> peers() const noexcept { return peers_; }

  // The cpus on which each participant may run.
  std::vector<Binding> bindings() const {
    std::vector<Binding> bindings;
    for (const Peer& peer : peers_)
      bindings.push_back(block().segment().member(peer.member_index).binding);
    return bindings;
  }

  // A barrier when all ranks are on this node.
  template <class Trace>
  void cross(const Waiting& waiting, const WaitDuties& duties, Trace& trace) const noexcept {
    barrier_.cross(me_, 0, waiting, duties, trace);
  }

  // A barrier when there are other nodes. `meet` runs in this node's leader, after all ranks of the
  // node have arrived and before any of them leaves. Returns in all of them what `meet` returned,
  // which must be below 64.
  template <class Meet, class Trace>
  std::uint32_t cross_around(const Waiting& waiting, const WaitDuties& duties, Meet&& meet,
                             Trace& trace) const noexcept {
    return barrier_.cross_around(
        me_, 0, waiting, duties, [&](std::uint32_t) noexcept { return meet(); }, trace);
  }

  // The same two when the node has a baseline in place of the engine.
  template <class Trace>
  void cross_by_baseline(const Waiting& waiting, const WaitDuties& duties,
                         Trace& trace) const noexcept {
    barrier_.cross_by_baseline(me_, waiting, duties, trace);
  }
  template <class Meet, class Trace>
  std::uint32_t cross_around_by_baseline(const Waiting& waiting, const WaitDuties& duties,
                                         Meet&& meet, Trace& trace) const noexcept {
    return barrier_.cross_around_by_baseline(me_, waiting, duties, meet, trace);
  }

 private:
  PlannedBarrier barrier_;
  std::span<const Peer> peers_;
  Place place_;
  std::uint32_t me_;
  Fencing fencing_;
};

}  // namespace hierbar::mpi
