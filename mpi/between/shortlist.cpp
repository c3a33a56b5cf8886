// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/shortlist.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "network/choose.hpp"
#include "network/network_profile.hpp"

namespace hierbar::mpi {
namespace {

// Schedules of one family have the same course, so a wrong assumption on the network is wrong for
// all of them.
int family_of(network::Kind kind) {
  enum : int { kOneMessageARound, kManyMessagesARound, kTrees, kOneLeader, kRing };
  switch (kind.algorithm) {
    case network::Algorithm::kRecursiveDoubling:
      return kOneMessageARound;
    case network::Algorithm::kDissemination:
      return kind.k == 1 ? kOneMessageARound : kManyMessagesARound;
    case network::Algorithm::kTree:
    case network::Algorithm::kCombiningTree:
      return kTrees;
    case network::Algorithm::kLinear:
      return kOneLeader;
    case network::Algorithm::kDoubleRing:
      return kRing;
  }
  return kRing;
}

// The best of each family, as long as there are places.
void add_best(const std::vector<network::Ranked>& ranked, std::vector<network::Kind>& kinds) {
  for (const network::Ranked& schedule : ranked) {
    if (kinds.size() == kMostShortlisted) return;
    const bool is_new =
        std::none_of(kinds.begin(), kinds.end(), [&](network::Kind kind) { return family_of(kind) == family_of(schedule.kind); });
    if (is_new) kinds.push_back(schedule.kind);
  }
}

Shortlist make_shortlist(const MeetingSetting& setting, std::uint32_t num_nodes, const std::string& library) {
  Shortlist list;
  if (setting.mode == MeetingSetting::Mode::kFixed) list.kinds.push_back(setting.kind);
  if (setting.mode != MeetingSetting::Mode::kAuto) return list;
  const network::NetworkProfile profile = network::read_network_profile(own_environment(), list.problems);
  const network::MeasuredNetwork* measured = profile.find(library, network::transport_of(own_environment()), num_nodes);
  list.source =
      measured != nullptr ? profile.path : "assumed costs, because nothing was measured with this library and transport";
  // They only decide what is tried; the trial decides what is used.
  const network::Parameters costs = measured != nullptr ? measured->slowest() : network::kAssumedParameters;
  const std::uint32_t num_chosen = std::min(num_nodes, network::kMostChosenNodes);
  add_best(network::choose(network::candidates(num_chosen), num_chosen, {costs, {}}), list.kinds);
  return list;
}

}  // namespace

const Shortlist& shortlist_for(const MeetingSetting& setting, std::uint32_t num_nodes, const std::string& library) {
  static std::mutex mutex;
  // Never destroyed, like the shim: MPI may be used until the very end of the process.
  static auto* const known = new std::map<std::uint32_t, Shortlist>;
  const std::lock_guard lock(mutex);
  const auto found = known->find(num_nodes);
  return found != known->end() ? found->second
                               : known->emplace(num_nodes, make_shortlist(setting, num_nodes, library)).first->second;
}

}  // namespace hierbar::mpi
