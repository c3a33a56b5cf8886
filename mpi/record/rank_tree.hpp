// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/record/rank_trace.hpp"
#include "report/levels.hpp"
#include "report/tables.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::mpi {

// Who gathers from whom in a communicator's barriers, and what the stamps of all ranks show about
// one of these barriers.
//
// Clocks are compared on one node only. On several nodes, each node has one root, which meets the
// other roots when its node has gathered. The meeting ends everywhere at about the same time. So
// the root that was in the meeting for the shortest time belongs to the node that came last. The
// other roots were in it for longer, and have waited for the difference
// (docs/design/reports.md#d0061).
class RankTree {
 public:
  // parents[i] is the rank that gathers from rank i and releases it. For a leader of the exchange
  // it is i itself; with several nodes, for the leader of a node. units[i] is the hierbar_unit that
  // rank i shares with the ranks from which it gathers. One more element is the unit of the
  // exchange. `units` is empty if nobody knows them.
  RankTree(const std::vector<std::uint32_t>& parents, bool several_nodes,
           const std::vector<std::uint8_t>& units = {});

  // What one rank learns about a barrier. It is sent as plain bytes.
  struct Sight {
    // When the last of all ranks arrived, by this rank's clock. 0: the barrier does not count.
    std::uint64_t last;
    // 1: it was this rank.
    std::uint64_t is_last_itself;
  };

  // Evaluates one barrier. stamps[i] are those of rank i. sights[i] becomes what rank i learns. The
  // barrier's length and its levels are added to `times`. With several nodes the levels are those
  // of the node that came last, and its "exchange" is the roots' meeting. Returns false, and adds
  // no levels, if the stamps contradict each other.
  bool summarise(const std::vector<Stamps>& stamps, const TraceClock& clock,
                 std::vector<Sight>& sights, report::BarrierTimes& times) const;

  std::uint32_t num_ranks() const { return num_ranks_; }
  bool has_several_nodes() const { return nodes_.size() > 1; }
  // Whether the rank takes part in the exchange or in the meeting of the nodes. Nobody releases it.
  bool leads(std::uint32_t rank) const;

 private:
  struct Node {
    std::vector<std::uint32_t> ranks;
    report::Shape shape;  // by position in `ranks`
    std::uint32_t root;   // the rank that meets the roots of other nodes
  };
  struct Arrival {  // of a node's last rank
    std::uint64_t time;
    std::uint32_t rank;
  };
  static Arrival last_arrival(const Node& node, const std::vector<Stamps>& stamps);
  bool add_times(const Node& node, const std::vector<Stamps>& stamps, std::uint64_t last,
                 const TraceClock& clock, report::BarrierTimes& times) const;

  std::vector<Node> nodes_;
  std::uint32_t num_ranks_;
};

// Adds the wait of a rank, or of a thread of a team, in a barrier that counts.
void add_wait(report::ThreadTimes& times, const Stamps& stamps, const RankTree::Sight& sight,
              const TraceClock& clock);

}  // namespace hierbar::mpi
