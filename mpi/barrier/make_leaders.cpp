// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/make_leaders.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/offer.hpp"
#include "mpi/barrier/rank_info.hpp"
#include "mpi/between/meeting.hpp"
#include "mpi/between/trial.hpp"
#include "mpi/library/library_name.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

static_assert(std::size(Offer{}.meetings) == kMostShortlisted);

// Of who cannot use the library's collectives, while nothing better is known. MPI libraries use it
// themselves, between few nodes and with small messages.
constexpr network::Kind kByMessages{network::Algorithm::kDissemination, 1};

void report_shortlist(const Shortlist& list, std::size_t num_nodes, bool is_verbose) {
  for (const std::string& problem : list.problems) print_line(problem);
  if (!is_verbose) return;
  std::string names;
  for (const network::Kind kind : list.kinds)
    names += (names.empty() ? "" : ", ") + network::name_of(kind);
  const std::string reason =
      list.source.empty() ? kMeetingVariable : "to be tried against the library's; " + list.source;
  print_line("meeting of " + std::to_string(num_nodes) + " nodes: " + names + " (" + reason + ")");
}

// The processes that lead the nodes, in the order of the nodes.
std::vector<std::uint64_t> leader_processes(const std::vector<RankInfo>& records,
                                            const NodeMap& map) {
  std::vector<std::uint64_t> processes;
  for (const NodeMap::Ranks& ranks : map.nodes())
    processes.push_back(records[static_cast<std::size_t>(ranks.front())].process_id);
  return processes;
}

// Rank 0's part, on several nodes: writes into its offer by which schedules the leaders shall meet.
// If a trial among these leaders has ended before, this is its verdict.
void offer_meeting(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                   Offer& offer) {
  ProcessState& process = agreement.process();
  const MeetingSetting& setting = process.settings.meeting;
  offer.by_messages =
      code_of(setting.mode == MeetingSetting::Mode::kFixed ? setting.kind : kByMessages);
  if (setting.mode == MeetingSetting::Mode::kLibrary) return;
  if (setting.mode == MeetingSetting::Mode::kAuto) {
    const std::optional<Verdicts::Verdict> known =
        process.verdicts.find(Verdicts::key_of(leader_processes(records, map)));
    if (known) {
      offer.meetings[0] = *known ? code_of(**known) : 0;
      if (*known) offer.by_messages = offer.meetings[0];
      return;
    }
    offer.is_trial = 1;
  }
  const auto num_nodes = static_cast<std::uint32_t>(map.nodes().size());
  const Shortlist& list =
      shortlist_for(setting, num_nodes, library_name(agreement.pmpi().Get_library_version));
  std::transform(list.kinds.begin(), list.kinds.end(), std::begin(offer.meetings), code_of);
  if (process.claim_first(ProcessState::Message::kShortlist))
    report_shortlist(list, num_nodes, process.settings.verbose);
}

// How this leader meets the others, by rank 0's offer: with the library's collectives, or by
// messages only, if rank 0 has chosen a tag.
MeetingPlan plan_meeting(const Agreement& agreement, const std::vector<RankInfo>& records,
                         const NodeMap& map, const Offer& first) {
  MeetingPlan plan;
  plan.tag = static_cast<int>(first.leaders.tag);
  if (plan.tag != 0) {
    plan.kinds = {kind_from(first.by_messages)};
  } else {
    for (const std::uint32_t code : first.meetings) {
      if (code != 0) plan.kinds.push_back(kind_from(code));
    }
    plan.is_trial = first.is_trial != 0;
  }
  // The split keeps the order of the ranks, and nodes are in the order of their leaders.
  const auto own =
      std::find_if(map.nodes().begin(), map.nodes().end(),
                   [&](const NodeMap::Ranks& ranks) { return ranks.front() == agreement.rank(); });
  plan.rank = static_cast<std::uint32_t>(own - map.nodes().begin());
  plan.size = static_cast<std::uint32_t>(map.nodes().size());
  if (agreement.rank() == 0) {
    plan.prints_verdict = agreement.process().settings.verbose;
    plan.verdicts = &agreement.process().verdicts;
    plan.verdict_key = Verdicts::key_of(leader_processes(records, map));
  }
  return plan;
}

static_assert(std::size(Offer{}.known_leaders) == LeaderComms::kMostOfSame);

template <class Predicate>
bool all_leaders(const NodeMap& map, Predicate&& predicate) {
  return std::all_of(map.nodes().begin(), map.nodes().end(),
                     [&](const NodeMap::Ranks& ranks) { return predicate(ranks.front()); });
}

Sharing sharing_of(const std::vector<RankInfo>& records, const NodeMap& map) {
  const auto have = [&](std::uint32_t flag) {
    return all_leaders(
        map, [&](int rank) { return (records[static_cast<std::size_t>(rank)].flags & flag) != 0; });
  };
  if (!have(RankInfo::kHasNoSessions)) return Sharing::kNone;
  return have(RankInfo::kHasOneBarrier) ? Sharing::kByCollectives : Sharing::kByTags;
}

// Whether a leader's offer has it, and what is wanted of it.
bool has(const Offer& offer, std::uint64_t id, bool with_collectives) {
  for (std::size_t i = 0; i < std::size(offer.known_leaders); ++i) {
    if (offer.known_leaders[i] == id)
      return !with_collectives || (offer.with_collectives >> i & 1) != 0;
  }
  return false;
}

}  // namespace

LeadersMaker::LeadersMaker(Agreement& agreement, const std::vector<RankInfo>& records,
                           const NodeMap& map, const NodePart& part)
    : agreement_(agreement),
      records_(records),
      map_(map),
      part_(part),
      sharing_(sharing_of(records, map)) {}

LeadersMaker::~LeadersMaker() {
  LeaderComms& comms = agreement_.process().leader_comms;
  if (const std::shared_ptr<LeaderComm> chosen = own_of(taken_.id))
    comms.give_back(*chosen, taken_);
  comms.release(agreement_.pmpi(), std::move(share_));
  for (std::shared_ptr<LeaderComm>& leaders : known_.comms)
    comms.release(agreement_.pmpi(), std::move(leaders));
}

void LeadersMaker::offer(Offer& own) {
  LeaderComms& comms = agreement_.process().leader_comms;
  comms.free_kept(agreement_.pmpi(), LeaderComms::kMostKept);
  known_ = comms.find(leader_processes(records_, map_), sharing_);
  own.has_room = known_.has_room ? 1 : 0;
  for (std::size_t i = 0; i < known_.comms.size(); ++i) {
    own.known_leaders[i] = known_.comms[i]->id;
    if (known_.has_collectives[i]) own.with_collectives |= 1U << i;
  }
  if (agreement_.rank() != 0) return;
  own.leaders = taken_ = comms.choose(known_, sharing_);
  own.new_leaders_id = random_id();
  offer_meeting(agreement_, records_, map_, own);
}

std::shared_ptr<LeaderComm> LeadersMaker::own_of(std::uint64_t id) const {
  for (const std::shared_ptr<LeaderComm>& leaders : known_.comms) {
    if (leaders != nullptr && leaders->id == id) return leaders;
  }
  return nullptr;
}

Route LeadersMaker::make(const std::vector<Offer>& offers) {
  LeaderComms& comms = agreement_.process().leader_comms;
  const Offer& first = offers[0];  // rank 0 leads
  const auto all_have_it = [&](bool with_collectives) {
    return all_leaders(map_, [&](int rank) {
      return has(offers[static_cast<std::size_t>(rank)], first.leaders.id, with_collectives);
    });
  };
  const std::shared_ptr<LeaderComm> chosen =
      part_.leads() && first.leaders.id != 0 ? own_of(first.leaders.id) : nullptr;
  if (first.leaders.id != 0 && all_have_it(first.leaders.tag == 0)) {
    if (chosen == nullptr) return Route::kEngine;
    std::optional<Meeting> by_messages;
    if (first.leaders.tag != 0)
      by_messages.emplace(plan_meeting(agreement_, records_, map_, first));
    share_ = comms.share(chosen, std::move(by_messages), agreement_.rank() == 0);
    taken_ = {};
    return Route::kEngine;
  }
  if (chosen != nullptr && !all_have_it(false)) comms.forget(*chosen);
  if (!all_leaders(
          map_, [&](int rank) { return offers[static_cast<std::size_t>(rank)].has_room != 0; })) {
    // All ranks know it.
    agreement_.fail(Route::kNoLeaders,
                    "the leaders of the nodes have " + std::to_string(LeaderComms::kMost) +
                        " communicators of the MPI library already, which is the limit");
    return agreement_.agree(part_.segment.get());
  }
  return make_new(first);
}

Route LeadersMaker::make_new(const Offer& first) {
  const MPI_Comm made =
      split_quietly(agreement_.pmpi(), agreement_.comm(), part_.leads() ? 0 : MPI_UNDEFINED);
  if (part_.leads() && made == agreement_.pmpi().comm_null) {
    agreement_.fail(Route::kNoLeaders,
                    "the MPI library has no communicator left for the leaders of the nodes");
  }
  const Route verdict = agreement_.agree(part_.segment.get());
  if (verdict != Route::kEngine || !part_.leads()) return verdict;
  Offer with_collectives = first;
  with_collectives.leaders = {};
  LeaderComms& comms = agreement_.process().leader_comms;
  auto added = std::make_shared<LeaderComm>(
      LeaderComm{made, first.new_leaders_id, leader_processes(records_, map_),
                 Meeting(plan_meeting(agreement_, records_, map_, with_collectives))});
  share_ = comms.share(comms.add(std::move(added)), std::nullopt, /*is_taken=*/false);
  return verdict;
}

}  // namespace hierbar::mpi
