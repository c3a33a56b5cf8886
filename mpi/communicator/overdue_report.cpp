// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/communicator/overdue_report.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "mpi/settings/message.hpp"

namespace hierbar::mpi {
namespace {

std::string describe(const NodeBarrier& node, std::uint32_t participant) {
  const NodeBarrier::Peer& peer = node.peers()[participant];
  const ProcessName& process = node.block().segment().member(peer.member_index).process;
  return "rank " + std::to_string(peer.comm_rank) + " (process " + std::to_string(process.pid) + ", " +
         state_of(process.pid, process.start_time) + ")";
}

std::string list(const NodeBarrier& node, const std::vector<std::uint32_t>& missing) {
  std::string text;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + describe(node, missing[i]);
  }
  if (missing.size() > kMostNamed) text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  return text;
}

}  // namespace

void report_overdue(void* context, long waited_ns) noexcept {
  const Overdue& overdue = *static_cast<const Overdue*>(context);
  const NodeBarrier& node = *overdue.state->node;
  std::vector<std::uint32_t> missing, waiting;
  for (std::uint32_t i = 0; i < node.plan().num_participants; ++i) {
    (node.block().has_entered(i, node.me()) ? waiting : missing).push_back(i);
  }
  // The last rank has just arrived.
  if (missing.empty() && !overdue.state->several_nodes) return;
  // When all have arrived, participant 0 is inside the leaders' barrier and does not get here.
  if (node.me() != waiting[missing.empty() ? 1 : 0]) return;
  const std::string waits = "a barrier on " + name_of(*overdue.pmpi, overdue.comm) + " of " +
                            std::to_string(node.plan().num_participants) + " ranks on this node waits since " +
                            std::to_string(waited_ns / 1'000'000'000) + " s for ";
  print_line(waits + (missing.empty() ? "other nodes; all of this node's ranks have arrived" : list(node, missing)));
}

}  // namespace hierbar::mpi
