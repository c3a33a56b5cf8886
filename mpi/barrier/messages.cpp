// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/messages.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "mpi/barrier/process_state.hpp"
#include "mpi/library/library_name.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/record/ompt_tool.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {

void report_problems(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm) {
  // The first barrier of every communicator comes here, and nearly always nothing is wrong.
  if (process.settings.problems.empty() && report_settings().problems.empty()) return;
  int in_world = 0, rank = -1;
  ask([&] { return pmpi.Initialized(&in_world); });
  ask([&] { return pmpi.Comm_rank(in_world != 0 ? pmpi.comm_world : comm, &rank); });
  if (rank != 0 || !process.claim_first(ProcessState::Message::kProblems)) return;
  for (const std::string& problem : process.settings.problems) print_line(problem);
  // The tool reads the same variables and reports what is wrong with them.
  if (is_ompt_tool_loaded()) return;
  for (const std::string& problem : report_settings().problems) print_line(problem);
}

namespace {

std::string describe(const NodeBarrier& node, std::uint32_t participant) {
  const NodeBarrier::Peer& peer = node.peers()[participant];
  const ProcessName& process = node.block().segment().member(peer.member_index).process;
  return "rank " + std::to_string(peer.comm_rank) + " (process " + std::to_string(process.pid) +
         ", " + state_of(process.pid, process.start_time) + ")";
}

std::string list(const NodeBarrier& node, const std::vector<std::uint32_t>& missing) {
  std::string text;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + describe(node, missing[i]);
  }
  if (missing.size() > kMostNamed)
    text += " and " + std::to_string(missing.size() - kMostNamed) + " more";
  return text;
}

// `call` is "a barrier", say. `missing` are those that have not come to it, and `first_waiting` is
// the lowest of those that wait in it.
void print_overdue(const std::string& call, const Overdue& overdue, long waited_ns,
                   const std::vector<std::uint32_t>& missing, std::uint32_t first_waiting) {
  const NodeBarrier& node = *overdue.state->node;
  if (node.me() != first_waiting) return;
  const std::string waits = call + " on " + name_of(*overdue.pmpi, overdue.comm) + " of " +
                            std::to_string(node.plan().num_participants) +
                            " ranks on this node has waited " +
                            std::to_string(waited_ns / 1'000'000'000) + " s for ";
  print_line(waits + (missing.empty() ? "other nodes; all of this node's ranks have arrived"
                                      : list(node, missing)));
}

// `part` serves the call. In a call whose data go one way a rank may be done while others wait.
template <class Memory>
void report_overdue_in(const Memory& part, const OverdueData& overdue, long waited_ns) {
  const std::uint32_t num_ranks = overdue.state->node->plan().num_participants;
  std::vector<std::uint32_t> missing;
  std::uint32_t first_waiting = num_ranks;
  for (std::uint32_t i = 0; i < num_ranks; ++i) {
    if (!part.has_entered(i)) {
      if (overdue.awaited == OverdueData::kAny || i == static_cast<std::uint32_t>(overdue.awaited))
        missing.push_back(i);
    } else if (first_waiting == num_ranks && !part.has_left(i)) {
      first_waiting = i;
    }
  }
  // The awaited rank has just arrived, or waits itself for another one and says so.
  if (missing.empty()) return;
  // The others wait for the root, and do not know for whom it waits until it has room.
  if ((overdue.call == DataCall::kBcast || overdue.call == DataCall::kScatter) &&
      overdue.awaited == OverdueData::kAny)
    first_waiting = overdue.state->node->me();
  const std::string name = name_of(overdue.call);
  print_overdue((name.front() == 'a' ? "an " : "a ") + name, overdue, waited_ns, missing,
                first_waiting);
}

}  // namespace

void report_overdue(void* context, long waited_ns) noexcept {
  const Overdue& overdue = *static_cast<const Overdue*>(context);
  const NodeBarrier& node = *overdue.state->node;
  std::vector<std::uint32_t> missing, waiting;
  for (std::uint32_t i = 0; i < node.plan().num_participants; ++i)
    (node.block().has_entered(i, node.me()) ? waiting : missing).push_back(i);
  // The last rank has just arrived.
  if (missing.empty() && !overdue.state->several_nodes) return;
  // When all have arrived, participant 0 is inside the leaders' barrier and does not get here.
  print_overdue("a barrier", overdue, waited_ns, missing, waiting[missing.empty() ? 1 : 0]);
}

void report_overdue_data(void* context, long waited_ns) noexcept {
  const auto& overdue = static_cast<const OverdueData&>(*static_cast<const Overdue*>(context));
  if (is_one_way(overdue.call)) {
    report_overdue_in(*overdue.state->one_way.memory, overdue, waited_ns);
  } else {
    report_overdue_in(*overdue.state->collectives.memory, overdue, waited_ns);
  }
}

namespace {

bool is_library(Route route) { return route != Route::kEngine && route != Route::kBaseline; }

std::string describe(const Counts& counts) {
  std::uint64_t passed = 0;
  std::string reasons;
  for (std::size_t route = 0; route < kNumRoutes; ++route) {
    if (!is_library(static_cast<Route>(route)) || counts[route] == 0) continue;
    passed += counts[route];
    reasons += (reasons.empty() ? " (" : ", ") + std::string(name_of(static_cast<Route>(route))) +
               " " + std::to_string(counts[route]);
  }
  const std::uint64_t engine = counts[static_cast<std::size_t>(Route::kEngine)];
  const std::uint64_t baseline = counts[static_cast<std::size_t>(Route::kBaseline)];
  return "engine " + std::to_string(engine) +
         (baseline == 0 ? "" : ", baseline " + std::to_string(baseline)) + ", library " +
         std::to_string(passed) + reasons + (reasons.empty() ? "" : ")");
}

std::string describe(const DataCount& count) {
  return "engine " + std::to_string(count.served) + ", library " + std::to_string(count.passed);
}

// The sum in rank 0, of all ranks of the world. Returns false if the library's call failed.
bool sum_up(const Pmpi& pmpi, const AllCounts& counts, AllCounts& sum) {
  std::array<std::uint64_t, kNumRoutes + 2 * kNumDataCalls> own{}, all{};
  auto* next_own = std::copy(counts.barriers.begin(), counts.barriers.end(), own.begin());
  for (const DataCount& count : counts.data) {
    *next_own++ = count.served;
    *next_own++ = count.passed;
  }
  if (pmpi.Reduce(own.data(), all.data(), static_cast<int>(own.size()), pmpi.uint64, pmpi.sum, 0,
                  pmpi.comm_world) != MPI_SUCCESS)
    return false;
  std::copy_n(all.begin(), kNumRoutes, sum.barriers.begin());
  const auto* next_sum = all.begin() + kNumRoutes;
  for (DataCount& count : sum.data) {
    count.served = *next_sum++;
    count.passed = *next_sum++;
  }
  return true;
}

// `of` is whose calls they are: " of 2 ranks: ". Calls with data go unmentioned where they are not
// served.
void print_counts(const AllCounts& counts, const std::string& of) {
  print_line("barriers" + of + describe(counts.barriers));
  for (std::size_t i = 0; i < kNumDataCalls; ++i) {
    const DataCount& count = counts.data[i];
    if (count.served + count.passed == 0 && !ProcessState::get().settings.serves_collectives())
      continue;
    print_line(std::string(kDataCallsOfMpi[i].name) + "s" + of + describe(count));
  }
}

}  // namespace

void print_report(const Pmpi& pmpi, const AllCounts& counts, int rank, bool together) {
  AllCounts sum = counts;
  int num_ranks = 1;
  if (together) {
    ask([&] { return pmpi.Comm_size(pmpi.comm_world, &num_ranks); });
    const bool is_done = sum_up(pmpi, counts, sum);
    if (rank == 0 && !is_done) together = false;
  }
  if (rank == 0)
    print_line("library: " + library_name(pmpi.Get_library_version) + " (" + pmpi.file +
               "), progress by " + progress_name());
  if (rank != 0 && together) return;
  const std::string of = together ? " of " + std::to_string(num_ranks) + " ranks: "
                                  : " of rank " + std::to_string(rank) + ": ";
  print_counts(sum, of);
  const bool none = std::all_of(sum.barriers.begin(), sum.barriers.end(),
                                [](std::uint64_t count) { return count == 0; });
  const bool has_data = std::any_of(sum.data.begin(), sum.data.end(),
                                    [](const DataCount& count) { return count.served != 0; });
  if (rank != 0 || !none || has_data) return;
  print_line(
      "no MPI_Barrier call reached this library: the program makes none, or its calls are bound to "
      "the MPI library's own function (RTLD_DEEPBIND, dlvsym()), or a tool calls that function "
      "(found by RTLD_NEXT) in place of PMPI_Barrier");
}

void print_rest(const AllCounts& counts, int rank) {
  print_counts(counts, " of rank " + std::to_string(rank) + " after the report: ");
}

}  // namespace hierbar::mpi
