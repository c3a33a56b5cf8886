// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/rank_trace.hpp"
#include "ompt-tools/levels.hpp"
#include "ompt-tools/tables.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::mpi {

// Who gathers from whom in a communicator's barriers, and what the stamps of all its ranks say about one of them.
//
// Clocks are compared on one node only. Over several nodes each has one root, which meets the others' when its node has gathered;
// the meeting ends at about the same time everywhere. So the root that was in it for the shortest time is that of the node which
// came last, and another node's root had waited for as long as it was in it longer.
class RankTree {
 public:
  // parents[i] gathers from rank i and releases it; i itself for a leader of the exchange, or of a node when there are several.
  // units[i] is the hierbar_unit that rank i shares with those that it gathers from, the last one that of the exchange; none when
  // nobody knows.
  RankTree(const std::vector<std::uint32_t>& parents, bool several_nodes, const std::vector<std::uint8_t>& units = {});

  // What one rank is told about a barrier. Plain bytes on the wire.
  struct Sight {
    std::uint64_t last;            // when the last rank of all arrived, by this rank's clock; 0: the barrier does not count
    std::uint64_t is_last_itself;  // 1: it was this one
  };

  // Of the barrier in which stamps[i] are those of rank i: sights[i] becomes what rank i is told, and `times` gets its length and
  // its levels. With several nodes these are those of the node that came last, and its "exchange" is the roots' meeting. Returns
  // false, and adds no levels, when the stamps contradict each other.
  bool summarise(const std::vector<Stamps>& stamps, const TraceClock& clock, std::vector<Sight>& sights,
                 ompt::BarrierTimes& times) const;

  std::uint32_t num_ranks() const { return num_ranks_; }
  bool has_several_nodes() const { return nodes_.size() > 1; }
  // Whether the rank takes part in an exchange, or in the nodes' meeting, and is released by nobody.
  bool leads(std::uint32_t rank) const;

 private:
  struct Node {
    std::vector<std::uint32_t> ranks;
    ompt::Shape shape;   // by place in `ranks`
    std::uint32_t root;  // the rank that meets those of other nodes
  };
  struct Arrival {  // of a node's last rank
    std::uint64_t time;
    std::uint32_t rank;
  };
  static Arrival last_arrival(const Node& node, const std::vector<Stamps>& stamps);
  bool add_times(const Node& node, const std::vector<Stamps>& stamps, std::uint64_t last, const TraceClock& clock,
                 ompt::BarrierTimes& times) const;

  std::vector<Node> nodes_;
  std::uint32_t num_ranks_;
};

}  // namespace hierbar::mpi
