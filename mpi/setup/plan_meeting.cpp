// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/setup/plan_meeting.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "mpi/between/shortlist.hpp"
#include "mpi/library/library_name.hpp"
#include "mpi/settings/message.hpp"

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
  for (const network::Kind kind : list.kinds) names += (names.empty() ? "" : ", ") + network::name_of(kind);
  const std::string reason = list.source.empty() ? kMeetingVariable : "to be tried beside the library's; " + list.source;
  print_line("meeting of " + std::to_string(num_nodes) + " nodes: " + names + " (" + reason + ")");
}

}  // namespace

std::vector<std::uint64_t> leader_processes(const std::vector<RankInfo>& records, const NodeMap& map) {
  std::vector<std::uint64_t> processes;
  for (const NodeMap::Ranks& ranks : map.nodes())
    processes.push_back(records[static_cast<std::size_t>(ranks.front())].process_id);
  return processes;
}

void offer_meeting(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map, Offer& offer) {
  ProcessState& process = agreement.process();
  const MeetingSetting& setting = process.settings.meeting;
  offer.by_messages = code_of(setting.mode == MeetingSetting::Mode::kFixed ? setting.kind : kByMessages);
  if (setting.mode == MeetingSetting::Mode::kLibrary) return;
  if (setting.mode == MeetingSetting::Mode::kAuto) {
    const std::optional<Verdicts::Verdict> known = process.verdicts.find(Verdicts::key_of(leader_processes(records, map)));
    if (known) {
      offer.meetings[0] = *known ? code_of(**known) : 0;
      if (*known) offer.by_messages = offer.meetings[0];
      return;
    }
    offer.is_trial = 1;
  }
  const auto num_nodes = static_cast<std::uint32_t>(map.nodes().size());
  const Shortlist& list = shortlist_for(setting, num_nodes, library_name(agreement.pmpi().Get_library_version));
  std::transform(list.kinds.begin(), list.kinds.end(), std::begin(offer.meetings), code_of);
  if (process.claim_first(ProcessState::Message::kShortlist)) report_shortlist(list, num_nodes, process.settings.verbose);
}

MeetingPlan plan_meeting(const Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                         const Offer& first) {
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
  const auto own = std::find_if(map.nodes().begin(), map.nodes().end(),
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

}  // namespace hierbar::mpi
