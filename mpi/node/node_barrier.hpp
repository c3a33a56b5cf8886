// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/node/planned_barrier.hpp"

namespace hierbar::mpi {

// The barrier of a communicator's ranks on one node, as one of them uses it.
class NodeBarrier {
 public:
  struct Peer {
    int comm_rank;
    std::uint32_t member_index;  // in the segment
  };

  NodeBarrier(PlanCopy plan, std::shared_ptr<Segment> segment, std::uint32_t first_unit, std::uint32_t me,
              std::vector<Peer> peers, Algorithm algorithm)
      : barrier_(std::move(plan), std::move(segment), first_unit, algorithm), peers_(std::move(peers)), me_(me) {}
  NodeBarrier(const NodeBarrier&) = delete;
  NodeBarrier& operator=(const NodeBarrier&) = delete;

  const hierbar_plan& plan() const noexcept { return barrier_.plan(); }
  const BarrierBlock& block() const noexcept { return barrier_.block(); }
  Algorithm algorithm() const noexcept { return block().algorithm(); }
  std::uint32_t me() const noexcept { return me_; }
  bool leads() const noexcept { return me_ == 0; }
  const std::vector<Peer>& peers() const noexcept { return peers_; }

  // The cpus on which each participant may run.
  std::vector<Binding> bindings() const {
    std::vector<Binding> bindings;
    for (const Peer& peer : peers_) bindings.push_back(block().segment().member(peer.member_index).binding);
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
  std::uint32_t cross_around(const Waiting& waiting, const WaitDuties& duties, Meet&& meet, Trace& trace) const noexcept {
    return barrier_.cross_around(me_, 0, waiting, duties, [&](std::uint32_t) noexcept { return meet(); }, trace);
  }

  // The same two when the node has a baseline in place of the engine.
  template <class Trace>
  void cross_by_baseline(const Waiting& waiting, const WaitDuties& duties, Trace& trace) const noexcept {
    barrier_.cross_by_baseline(me_, waiting, duties, trace);
  }
  template <class Meet, class Trace>
  std::uint32_t cross_around_by_baseline(const Waiting& waiting, const WaitDuties& duties, Meet&& meet,
                                         Trace& trace) const noexcept {
    return barrier_.cross_around_by_baseline(me_, waiting, duties, meet, trace);
  }

 private:
  PlannedBarrier barrier_;
  std::vector<Peer> peers_;
  std::uint32_t me_;
};

}  // namespace hierbar::mpi
