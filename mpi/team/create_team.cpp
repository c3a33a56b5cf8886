// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/create_team.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hierbar/mpi.h"
#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

// What each rank sends to all others. As plain bytes, as all of the set-up.
struct TeamRecord {
  ProcessName process;
  std::int32_t num_threads;
  std::int32_t thread_level;
  std::uint32_t has_handle;  // the caller has a place for it
  std::uint32_t has_place;   // Teams has
  // Of this many barriers one is to be recorded. 0: none.
  std::uint32_t report_every;
};

// What the lowest rank of a node sends to those who join its segment.
struct TeamInvitation {
  std::uint64_t segment_id;  // 0: there is none
  TeamNode::Sizes sizes;
  char name[120];
};

struct Refusal {
  int code;
  std::string reason;
};

// The first reason why there is no team, the same in all ranks.
std::optional<Refusal> refusal(const std::vector<TeamRecord>& records) {
  const auto first = [&](auto&& is_wrong) {
    const auto found = std::find_if(records.begin(), records.end(), is_wrong);
    return found == records.end() ? std::string()
                                  : "rank " + std::to_string(found - records.begin());
  };
  std::string rank = first([](const TeamRecord& record) { return record.has_handle == 0; });
  if (!rank.empty()) return Refusal{MPI_ERR_ARG, "team is NULL in " + rank};
  const auto is_out_of_range = [](const TeamRecord& record) {
    return record.num_threads < 1 || record.num_threads > HIERBAR_TEAM_MAX_THREADS;
  };
  rank = first(is_out_of_range);
  if (!rank.empty()) {
    const auto& wrong = *std::find_if(records.begin(), records.end(), is_out_of_range);
    return Refusal{MPI_ERR_COUNT, "num_threads is " + std::to_string(wrong.num_threads) + " in " +
                                      rank + "; allowed: 1 to " +
                                      std::to_string(HIERBAR_TEAM_MAX_THREADS)};
  }
  rank = first([](const TeamRecord& record) { return record.thread_level == MPI_THREAD_SINGLE; });
  if (!rank.empty()) {
    return Refusal{MPI_ERR_OTHER,
                   "the thread level is MPI_THREAD_SINGLE in " + rank +
                       "; ask MPI_Init_thread() for MPI_THREAD_FUNNELED or a higher one"};
  }
  rank = first([](const TeamRecord& record) { return record.has_place == 0; });
  if (!rank.empty())
    return Refusal{MPI_ERR_NO_MEM,
                   rank + " has " + std::to_string(Teams::kMost) + " teams; free some"};
  return std::nullopt;
}

bool has_world(const Pmpi& pmpi) {
  int in_world = 0;
  ask([&] { return pmpi.Initialized(&in_world); });
  return in_world != 0;
}

std::uint32_t report_every(ProcessState& process, const Pmpi& pmpi) {
  if (!process.settings.serves_barriers() || !report_settings().asked) return 0;
  int rank = -1;
  if (has_world(pmpi)) ask([&] { return pmpi.Comm_rank(pmpi.comm_world, &rank); });
  process.recorder.prepare(rank);
  return static_cast<std::uint32_t>(report_settings().settings.every);
}

Callers callers_for(int level, int num_threads) {
  if (level == MPI_THREAD_FUNNELED || num_threads == 1) return Callers::kThread0;
  return level == MPI_THREAD_SERIALIZED ? Callers::kInTurn : Callers::kAny;
}

// Makes the team's part of one node, collectively.
class TeamMaker {
 public:
  TeamMaker(Agreement& agreement, const CommState* state, const TeamRequest& request,
            const TeamRecord& own)
      : agreement_(agreement), state_(state), request_(request), own_(own) {}

  int make(std::unique_ptr<HybridTeam>& team) {
    const std::vector<TeamRecord> records = agreement_.exchange(own_);
    std::optional<Refusal> refused;
    if (!agreement_.has_failed()) refused = refusal(records);
    choose_ranks(records);
    if (!prepare_progress(agreement_.pmpi(), agreement_.comm())) {
      agreement_.fail(Route::kSetUpFailed,
                      "the MPI library has no request left for making progress");
    }
    // Whatever a rank has learnt, all of them make the same calls; see Agreement.
    const std::vector<TeamInvitation> all =
        agreement_.exchange(!refused && is_leader() ? invite() : TeamInvitation{});
    const Route before = agreement_.known_failure(nullptr);
    if (before == Route::kSetUpFailed || agreement_.num_ranks() == 0) return MPI_ERR_INTERN;
    if (refused) {
      if (agreement_.rank() == 0)
        print_line(std::string(request_.function) + ": " + refused->reason);
      return refused->code;
    }
    if (shares()) accept(all[static_cast<std::size_t>(ranks_.front().comm_rank)]);
    Route verdict = agreement_.agree(nullptr);
    if (node_ != nullptr) node_->segment().unlink();
    if (verdict == Route::kEngine) verdict = finish();
    if (verdict == Route::kSetUpFailed) return MPI_ERR_INTERN;
    if (verdict != Route::kEngine &&
        !stay_apart(records[static_cast<std::size_t>(agreement_.rank())]))
      return MPI_ERR_NO_MEM;
    TeamParts made = parts(verdict, records);
    if (made.route == Route::kEngine) made.trace = make_trace(records, made.meets);
    team = std::make_unique<HybridTeam>(std::move(made));
    return MPI_SUCCESS;
  }

 private:
  Route route() const { return state_ == nullptr ? Route::kOff : state_->route; }
  // A team runs the engine, whatever serves the communicator's own barriers.
  bool has_engine() const { return route() == Route::kEngine || route() == Route::kBaseline; }
  bool shares() const { return ranks_.size() > 1; }
  bool is_leader() const { return own_rank_ == 0; }
  std::uint32_t num_threads_before_own() const {
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < own_rank_; ++i) before += ranks_[i].num_threads;
    return before;
  }

  // The ranks that share memory with this one.
  void choose_ranks(const std::vector<TeamRecord>& records) {
    const auto add = [&](int rank) {
      const TeamRecord& record = records[static_cast<std::size_t>(rank)];
      if (rank == agreement_.rank()) own_rank_ = static_cast<std::uint32_t>(ranks_.size());
      ranks_.push_back({rank, static_cast<std::uint32_t>(record.num_threads), record.process});
    };
    if (!has_engine() || state_->node == nullptr) return add(agreement_.rank());
    for (const NodeBarrier::Peer& peer : state_->node->peers()) add(peer.comm_rank);
  }

  // As far as it is known before the threads have joined: each runs where its rank does.
  std::vector<Binding> bindings_of_ranks() const {
    const std::vector<Binding> known =
        shares() ? state_->node->bindings() : std::vector<Binding>{read_own_binding()};
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      bindings.insert(bindings.end(), ranks_[i].num_threads, known[i]);
    return bindings;
  }

  TeamInvitation invite() {
    TeamInvitation invitation{};
    if (agreement_.has_failed()) return invitation;
    auto made = TeamNode::create(bindings_of_ranks(), shares());
    if (!made) {
      agreement_.fail(Route::kNoSegment, made.error());
      return invitation;
    }
    node_ = *std::move(made);
    invitation.segment_id = node_->segment().id();
    invitation.sizes = node_->sizes();
    std::snprintf(invitation.name, sizeof(invitation.name), "%s", node_->segment().name().c_str());
    return invitation;
  }

  void accept(const TeamInvitation& invitation) {
    if (invitation.segment_id == 0 || agreement_.has_failed()) return;  // the leader has failed
    if (!is_leader()) {
      auto joined = TeamNode::join(invitation.name, invitation.segment_id, invitation.sizes);
      if (!joined) return agreement_.fail(Route::kNoSegment, joined.error());
      node_ = *std::move(joined);
    }
    const std::uint32_t begin = num_threads_before_own();
    if (const auto error = node_->populate(begin, begin + ranks_[own_rank_].num_threads)) {
      agreement_.fail(Route::kSegmentFull, error->text);
    }
  }

  // Collective: what must come after all ranks have taken their part of the memory.
  Route finish() {
    if (is_leader() && !agreement_.has_failed()) {
      if (const auto error = node_->populate_rest())
        agreement_.fail(Route::kSegmentFull, error->text);
    }
    return agreement_.agree(nullptr);
  }

  // The team does without shared memory.
  bool stay_apart(const TeamRecord& own) {
    ranks_ = {{agreement_.rank(), static_cast<std::uint32_t>(own.num_threads), own.process}};
    own_rank_ = 0;
    auto made = TeamNode::create(bindings_of_ranks(), /*is_shared=*/false);
    if (made) node_ = *std::move(made);
    return made.ok();
  }

  TeamParts parts(Route verdict, const std::vector<TeamRecord>& records) {
    ProcessState& process = agreement_.process();
    TeamParts parts{};
    parts.pmpi = &agreement_.pmpi();
    parts.comm = agreement_.comm();
    parts.comm_name = request_.comm_name;
    parts.ranks = ranks_;
    parts.own_rank = own_rank_;
    for (const TeamRecord& record : records)
      parts.threads_of_ranks.push_back(static_cast<std::uint32_t>(record.num_threads));
    parts.node = std::move(node_);
    parts.route = has_engine() || route() == Route::kOneRank ? verdict : route();
    parts.meets = parts.ranks.size() < static_cast<std::size_t>(agreement_.num_ranks());
    if (parts.route == Route::kEngine) parts.leaders = state_->leaders;
    parts.callers = callers_for(own_.thread_level, own_.num_threads);
    parts.funneled = own_.thread_level == MPI_THREAD_FUNNELED;
    parts.waiting.pauses_per_poll = process.self(0).pauses_per_poll;
    parts.waiting.watch_ns = process.settings.timeout_ns;
    parts.verbose = process.settings.verbose;
    return parts;
  }

  // Either all ranks record the barriers or none does: the records are put together by collective
  // calls.
  std::unique_ptr<TeamTrace> make_trace(const std::vector<TeamRecord>& records,
                                        bool several_nodes) const {
    std::vector<std::uint32_t> threads;
    for (const TeamRecord& record : records) {
      if (record.report_every == 0) return nullptr;
      threads.push_back(static_cast<std::uint32_t>(record.num_threads));
    }
    return std::make_unique<TeamTrace>(agreement_.process().recorder, std::move(threads),
                                       static_cast<std::uint32_t>(agreement_.rank()), several_nodes,
                                       records[0].report_every);
  }

  Agreement& agreement_;
  const CommState* state_;
  const TeamRequest& request_;
  const TeamRecord& own_;
  std::vector<TeamRank> ranks_;
  std::uint32_t own_rank_ = 0;
  std::unique_ptr<TeamNode> node_;
};

}  // namespace

int create_team(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, const CommState* state,
                const TeamRequest& request, Teams::Handle* handle) {
  Teams& teams = Teams::get();
  const TeamRecord own{own_process(),
                       request.num_threads,
                       request.is_threaded ? MPI_THREAD_MULTIPLE : process.thread_level(pmpi),
                       handle != nullptr ? 1U : 0U,
                       teams.is_full() ? 0U : 1U,
                       report_every(process, pmpi)};
  const InsideGuard guard;
  const QuietErrors quiet(pmpi, comm);
  Agreement agreement(process, pmpi, comm, request.consequence, request.function);
  if (agreement.num_ranks() == 0) return MPI_ERR_COMM;
  process.at_end([](States& states) { Teams::get().end_all(states); });
  std::unique_ptr<HybridTeam> team;
  const int status = TeamMaker(agreement, state, request, own).make(team);
  if (handle != nullptr) *handle = team != nullptr ? teams.add(std::move(team)) : 0;
  return status;
}

int free_team(ProcessState& process, const Pmpi& pmpi, Teams::Handle* handle) {
  Teams& teams = Teams::get();
  HybridTeam* const team = handle != nullptr ? teams.find(*handle) : nullptr;
  if (team == nullptr) return MPI_ERR_ARG;
  if (team->is_in_use()) return MPI_ERR_PENDING;
  if (team->is_recorded()) team->settle();
  team->count_calls(process.states);
  process.leader_comms.release(pmpi, teams.remove(*handle)->take_leaders());
  *handle = 0;
  return MPI_SUCCESS;
}

}  // namespace hierbar::mpi
