// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/set_up.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/trusted_variable.hpp"
#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/make_barrier.hpp"
#include "mpi/barrier/offer.hpp"
#include "mpi/barrier/rank_info.hpp"
#include "mpi/barrier/share_segment.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/node/fences.hpp"
#include "mpi/node/plan_library.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/settings/settings.hpp"
#include "trace/stamps.h"

namespace hierbar::mpi {
namespace {

// Whether the user has asked the MPI library to go on after a rank has died.
bool survives_dead_ranks() {
  return std::any_of(kFaultToleranceVariables.begin(), kFaultToleranceVariables.end(),
                     [](const char* name) {
                       const char* const value = trusted_variable(name);
                       return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0 &&
                              std::strcmp(value, "no") != 0 && std::strcmp(value, "false") != 0;
                     });
}

RankInfo make_record(Agreement& agreement, const std::vector<Membership>& joined) {
  ProcessState& process = agreement.process();
  const Pmpi& pmpi = agreement.pmpi();
  int fake_rank = agreement.rank(), in_world = 0, in_main = 0;
  const int thread_level = process.thread_level(pmpi);
  ask([&] { return pmpi.Initialized(&in_world); });
  if (in_world != 0) {
    ask([&] { return pmpi.Comm_rank(pmpi.comm_world, &fake_rank); });
    ask([&] { return pmpi.Is_thread_main(&in_main); });
  }
  const Self& self = process.self(fake_rank);
  RankInfo record{};
  record.node = self.node;
  record.process_id = self.id;
  record.meeting = process.settings.meeting.code();
  record.algorithm = static_cast<std::uint64_t>(process.settings.algorithm);
  if (!survives_dead_ranks()) record.flags |= RankInfo::kWantsEngine;
  if (process.settings.verbose) record.flags |= RankInfo::kVerbose;
  if (report_settings().asked) {
    record.report_every = static_cast<std::uint32_t>(report_settings().settings.every);
    process.recorder.prepare(in_world != 0 ? fake_rank : -1);
  }
  if (thread_level != MPI_THREAD_MULTIPLE) record.flags |= RankInfo::kHasOneBarrier;
  // Asked once: the answer interrupts the node's ranks. If it becomes wrong, waiters poll.
  static const bool can_fence = can_fence_ranks();
  if (can_fence) record.flags |= RankInfo::kCanFence;
  if (process.settings.serves_collectives()) {
    record.flags |= RankInfo::kWantsCollectives;
    if (takes_device_memory(pmpi)) record.flags |= RankInfo::kTakesDeviceMemory;
  }
  if (!process.may_have_sessions(pmpi)) record.flags |= RankInfo::kHasNoSessions;
  if (kThreadsMayMakeComms || in_main != 0 || thread_level != MPI_THREAD_MULTIPLE)
    record.flags |= RankInfo::kMayMakeLeaders;
  for (std::size_t i = 0; i < joined.size(); ++i)
    record.joined[i] = {joined[i].segment->id(), joined[i].index, 0};
  return record;
}

// Whether all ranks of a communicator belong to this process's MPI_COMM_WORLD, as far as the
// library answers.
bool is_inside_world(const Pmpi& pmpi, MPI_Comm comm, int num_ranks) {
  int in_world = 0;
  ask([&] { return pmpi.Initialized(&in_world); });
  MPI_Group all, world;
  if (in_world == 0 || pmpi.Comm_group(comm, &all) != MPI_SUCCESS) return false;
  std::vector<int> ranks(static_cast<std::size_t>(num_ranks)),
      translated(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  if (pmpi.Comm_group(pmpi.comm_world, &world) == MPI_SUCCESS) {
    const int status =
        pmpi.Group_translate_ranks(all, num_ranks, ranks.data(), world, translated.data());
    if (status != MPI_SUCCESS) translated.assign(ranks.size(), MPI_UNDEFINED);
    pmpi.Group_free(&world);
  }
  pmpi.Group_free(&all);
  return std::find(translated.begin(), translated.end(), MPI_UNDEFINED) == translated.end();
}

// Collective. Returns what RankTree needs to know about the machine. The leader of each node knows
// it. Nothing is known of a baseline's groups.
std::vector<std::uint8_t> find_units(Agreement& agreement, const CommState& state) {
  constexpr long long kNotMine = HIERBAR_NUM_UNITS;
  std::vector<long long> own(static_cast<std::size_t>(agreement.num_ranks()) + 1, kNotMine);
  if (state.node != nullptr && state.node->leads() && state.node->algorithm() == Algorithm::kHier) {
    const NodeBarrier& node = *state.node;
    const PlanUnits found = find_plan_units(node.plan(), node.bindings());
    for (std::size_t i = 0; i < node.peers().size(); ++i)
      own[static_cast<std::size_t>(node.peers()[i].comm_rank)] = found.gather[i];
    if (!state.several_nodes) {
      own.back() = found.exchange;
    } else if (node.plan().num_leaders > 1) {
      // The node's leader gathers from the node's other leaders as well.
      own[static_cast<std::size_t>(agreement.rank())] = found.exchange;
    }
  }
  std::vector<long long> all(own.size(), kNotMine);
  const Pmpi& pmpi = agreement.pmpi();
  if (pmpi.Allreduce(own.data(), all.data(), static_cast<int>(own.size()), pmpi.long_long, pmpi.min,
                     agreement.comm()) != MPI_SUCCESS) {
    agreement.fail(Route::kSetUpFailed, "the ranks could not exchange the machine's levels");
  }
  std::vector<std::uint8_t> units;
  for (const long long unit : all)
    units.push_back(unit == kNotMine ? std::uint8_t{HIERBAR_UNIT_UNKNOWN}
                                     : static_cast<std::uint8_t>(unit));
  return units;
}

// Collective. Each rank sends from whom it is gathered. Either all ranks record the barriers or
// none does, because the records are put together by collective calls.
void start_trace(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, std::uint64_t every,
                 CommState& state) {
  struct Place {
    // Rank 0's counts.
    std::uint64_t comm_id;
    std::uint64_t parent;
    std::uint64_t is_inside_world;
  };
  Agreement agreement(process, pmpi, comm, "its barriers are not recorded");
  auto parent = static_cast<std::uint64_t>(agreement.rank());
  if (state.node != nullptr) {
    const NodeBarrier& node = *state.node;
    // A baseline gives no stamps of its steps: as if all of its ranks were in one exchange.
    const std::uint32_t above =
        node.algorithm() == Algorithm::kHier ? node.plan().nodes[node.me()].parent : node.me();
    const bool leads = above == node.me();
    parent = static_cast<std::uint64_t>(
        node.peers()[leads && state.several_nodes ? 0 : above].comm_rank);
  }
  const bool inside = is_inside_world(pmpi, comm, agreement.num_ranks());
  const std::vector<Place> places =
      agreement.exchange(Place{random_id(), parent, inside ? 1U : 0U});
  const std::vector<std::uint8_t> units = find_units(agreement, state);
  if (agreement.agree(nullptr) != Route::kEngine) return;
  std::vector<std::uint32_t> parents;
  for (const Place& place : places) parents.push_back(static_cast<std::uint32_t>(place.parent));
  const bool all_inside = std::all_of(
      places.begin(), places.end(), [](const Place& place) { return place.is_inside_world != 0; });
  if (state.node != nullptr && state.waiting.spin_polls == 0) process.recorder.record_outnumbered();
  state.trace = std::make_unique<CommTrace>(
      process.recorder, places[0].comm_id, static_cast<std::uint32_t>(agreement.rank()),
      RankTree(parents, state.several_nodes, units), every, all_inside ? comm : pmpi.comm_null);
}

// Collective. Reports what is known to have failed before the offers are exchanged, with an
// exchange of empty offers. A rank that has not received the others' records cannot know whether
// this call or that exchange comes next. It need not know: they are the same call.
Route agree_on_failures(Agreement& agreement) {
  agreement.exchange(Offer{});
  return agreement.known_failure(nullptr);
}

// Rank 0's value of such a setting counts in all ranks, because all must do the same. `value` is
// the setting's in a record, and name(value) is what users write.
template <class Name>
void report_other_values(Agreement& agreement, const std::vector<RankInfo>& records,
                         const char* variable, std::uint64_t RankInfo::* value,
                         ProcessState::Message message, Name&& name) {
  const auto other = std::find_if(records.begin(), records.end(), [&](const RankInfo& record) {
    return record.*value != records[0].*value;
  });
  if (agreement.rank() != 0 || other == records.end() || !agreement.process().claim_first(message))
    return;
  print_line(std::string(variable) + ": '" + name((*other).*value) + "' in rank " +
             std::to_string(other - records.begin()) + " differs from rank 0's '" +
             name(records[0].*value) + "', which is used in all ranks");
}

void report_other_settings(Agreement& agreement, const std::vector<RankInfo>& records) {
  report_other_values(agreement, records, kMeetingVariable, &RankInfo::meeting,
                      ProcessState::Message::kOtherMeeting,
                      [](std::uint64_t code) { return name_of(MeetingSetting::from_code(code)); });
  report_other_values(agreement, records, kAlgorithmVariable, &RankInfo::algorithm,
                      ProcessState::Message::kOtherAlgorithm, [](std::uint64_t number) {
                        return std::string(algorithm_name(static_cast<Algorithm>(number)));
                      });
}

// Whether the engine may serve calls with data of the communicator, if it serves its barriers.
// Alike in all ranks, which have the same records.
bool may_have_collectives(const Agreement& agreement, const std::vector<RankInfo>& records) {
  const auto has = [&records](std::uint32_t flag) {
    return std::any_of(records.begin(), records.end(),
                       [=](const RankInfo& record) { return (record.flags & flag) != 0; });
  };
  if (!has(RankInfo::kWantsCollectives)) return false;
  ProcessState& process = agreement.process();
  if (!all_have(records, RankInfo::kWantsCollectives)) {
    if (agreement.rank() == 0 && process.claim_first(ProcessState::Message::kOtherServed))
      print_line(std::string(kServedVariable) +
                 ": not all ranks have 'collectives', so the MPI library serves all calls with "
                 "data; it must be the same in all ranks");
    return false;
  }
  if (has(RankInfo::kTakesDeviceMemory)) {
    if (agreement.rank() == 0 && process.claim_first(ProcessState::Message::kDeviceMemory))
      print_line(
          "the MPI library takes buffers in the memory of devices, so it serves all calls with "
          "data itself");
    return false;
  }
  static_assert(NodeCollectives::kMostRanks == NodeOneWay::kMostRanks);
  return records.size() <= NodeCollectives::kMostRanks;
}

Route way_by_records(const std::vector<RankInfo>& records, const NodeMap& map) {
  if (!all_have(records, RankInfo::kWantsEngine)) return Route::kFaultTolerance;
  const bool has_schedule = records[0].meeting != MeetingSetting{}.code();
  if (map.nodes().size() == records.size() && !has_schedule) return Route::kNothingShared;
  return map.nodes().size() > 1 && !all_have(records, RankInfo::kMayMakeLeaders)
             ? Route::kNotMainThread
             : Route::kEngine;
}

void report_not_main_thread(const Agreement& agreement) {
  if (agreement.rank() != 0 || !agreement.process().claim_first(Route::kNotMainThread)) return;
  print_line(
      "a communicator of several nodes is set up in a barrier of a thread that did not initialise "
      "MPI, and " +
      std::string(row_of(kFamily).name) +
      " may hang if several threads make communicators; the MPI library's own barrier is used "
      "instead");
}

// Steps 2 and 3 of decide(). Where the segment is full, they are done once more, with a new one.
Route share_and_make(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                     const std::vector<Membership>& joined, CommState& state) {
  std::vector<int> full;
  for (;;) {
    NodePart part(map, agreement.rank());
    const Route shared = share_segment(agreement, records, map, joined, full, part);
    if (shared != Route::kEngine) return shared;
    const std::size_t num_full = full.size();
    const Route made = make_barrier(agreement, records, map, part, state, full);
    // A segment that is new is never among them, so this ends.
    if (full.size() == num_full) return made;
  }
}

// 1. records   Every rank sends to all where it is and which segments it has joined.
// 2. segment   Where the ranks of a node have no segment in common, or it is full, their leader
// makes one.
// 3. barrier   The leader of a node makes the plan and claims a block. Leaders of several nodes get
//              a communicator of their own.
// 4. trace     If all ranks are to report, they exchange the whole tree.
Route decide(Agreement& agreement, CommState& state) {
  const std::vector<Membership> joined = agreement.process().memberships.newest_first();
  const std::vector<RankInfo> records = agreement.exchange(make_record(agreement, joined));
  if (agreement.has_failed()) return agree_on_failures(agreement);
  report_other_settings(agreement, records);
  const NodeMap map(records);
  const Route route = way_by_records(records, map);
  if (route != Route::kEngine || lacks_segment(records, map)) {
    const Route failure = agree_on_failures(agreement);
    if (failure != Route::kEngine) return failure;
  }
  state.verbose_everywhere = all_have(records, RankInfo::kVerbose);
  state.reports_everywhere =
      std::all_of(records.begin(), records.end(),
                  [](const RankInfo& record) { return record.report_every != 0; });
  if (route == Route::kNotMainThread) report_not_main_thread(agreement);
  if (route != Route::kEngine) return route;

  const bool has_data = may_have_collectives(agreement, records);
  const Route made = share_and_make(agreement, records, map, joined, state);
  if (made == Route::kEngine && has_data && !state.several_nodes)
    state.collectives.route = state.one_way.route = DataRoute::kUndecided;
  if (made == Route::kEngine && state.reports_everywhere) {
    start_trace(agreement.process(), agreement.pmpi(), agreement.comm(), records[0].report_every,
                state);
  }
  return made;
}

// With HIERBAR_VERBOSE=1: describes the first barrier in which this process is rank 0.
void describe(const Agreement& agreement, const CommState& state) {
  if (agreement.rank() != 0 || !agreement.process().settings.verbose || state.node == nullptr)
    return;
  if (!agreement.process().claim_first(Route::kEngine)) return;
  const hierbar_plan& plan = state.node->plan();
  const Algorithm algorithm = state.node->algorithm();
  const bool has_engine = algorithm == Algorithm::kHier;
  print_line("first communicator: " + std::to_string(agreement.num_ranks()) + " ranks, " +
             std::to_string(plan.num_participants) + " of them on this node: " +
             (has_engine ? std::to_string(plan.num_leaders) + " in the exchange, " +
                               std::to_string(plan.depth) + " line transfers deep"
                         : "algorithm " + std::string(algorithm_name(algorithm))) +
             "; " +
             (state.waiting.spin_polls == 0 ? "ranks outnumber cpus" : "a cpu for every rank") +
             (has_engine && plan.is_tuned != 0 ? "; shape from the node's profile" : ""));
}

// Returns false if `comm` is no communicator. `state` is unchanged then.
bool set_up_together(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, CommState& state,
                     const char* call) {
  // Those until now are counted already, as the library's.
  const std::string what =
      std::string("the set-up in ") + call + " " + std::to_string(num_before_set_up(state) + 1);
  Agreement agreement(process, pmpi, comm, "the MPI library's own barrier is used instead",
                      what.c_str());
  if (agreement.num_ranks() == 0) return false;
  state.num_barriers.store(0, std::memory_order_relaxed);
  for (std::atomic<std::uint64_t>& calls : state.num_data_calls)
    calls.store(0, std::memory_order_relaxed);
  state.route = decide(agreement, state);
  // Some ranks may not have learnt what the others want.
  if (state.route == Route::kSetUpFailed)
    state.verbose_everywhere = state.reports_everywhere = false;
  if (state.route == Route::kEngine) describe(agreement, state);
  // From here on it is this rank's own: a rank that is alone on its node has no baseline.
  if (state.node != nullptr && state.node->algorithm() != Algorithm::kHier)
    state.route = Route::kBaseline;
  if (state.route != Route::kEngine)
    state.collectives.route = state.one_way.route = DataRoute::kLibrary;
  return true;
}

}  // namespace

CommState* set_up(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, const char* call,
                  CommState* before) {
  const std::optional<Route> alone = route_by_itself(pmpi, comm);
  if (!alone) return nullptr;
  const InsideGuard guard;
  const QuietErrors quiet(pmpi, comm);
  auto made = before == nullptr ? std::make_unique<CommState>() : nullptr;
  CommState& state = before != nullptr ? *before : *made;
  if (*alone != Route::kEngine) {
    state.route = *alone;
  } else if (!set_up_together(process, pmpi, comm, state, call)) {
    return nullptr;
  }
  process.states.add(&state);
  if (before == nullptr) process.attach(pmpi, comm, made.release());
  return &state;
}

}  // namespace hierbar::mpi
