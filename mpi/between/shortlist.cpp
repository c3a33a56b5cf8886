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
  for (const network::Ranked& ranked : network::choose(network::candidates(num_chosen), num_chosen, {costs, {}})) {
    if (list.kinds.size() < kMostShortlisted) list.kinds.push_back(ranked.kind);
  }
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
