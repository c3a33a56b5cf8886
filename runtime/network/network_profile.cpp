// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/network_profile.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"

namespace hierbar::network {
namespace {

double one_way_us(const Parameters& parameters) {
  return parameters.latency_us + parameters.send_overhead_us + parameters.receive_overhead_us;
}

Result<NetworkProfile> parse_file(const SmallFile& file, const std::string& path) {
  if (!file.problem.empty()) return Error{file.problem};
  Result<NetworkProfile> profile = parse_network_profile(file.text);
  if (profile) profile->path = path;
  return profile;
}

}  // namespace

Parameters PairClass::median() const {
  return {latency_us.median, send_overhead_us.median, receive_overhead_us.median, gap_us.median,
          gap_per_byte_us.median};
}

Parameters MeasuredNetwork::slowest() const {
  Parameters slowest;
  for (const PairClass& one : classes) {
    if (one_way_us(one.median()) >= one_way_us(slowest)) slowest = one.median();
  }
  return slowest;
}

const MeasuredNetwork* NetworkProfile::find(const std::string& library,
                                            const std::string& transport,
                                            std::uint32_t num_nodes) const {
  const auto distance = [num_nodes](const MeasuredNetwork& network) {
    return std::abs(std::log2(static_cast<double>(network.num_nodes) / num_nodes));
  };
  const MeasuredNetwork* best = nullptr;
  for (const MeasuredNetwork& network : networks) {
    if (!network.is_for(library, transport)) continue;
    if (best == nullptr || distance(network) < distance(*best)) best = &network;
  }
  return best;
}

std::string transport_of(const Environment& environment) {
  return settings_in(environment, {"OMPI_MCA_pml", "OMPI_MCA_btl", "UCX_TLS", "FI_PROVIDER",
                                   "MPIR_CVAR_CH4_NETMOD"});
}

Result<NetworkProfile> load_network_profile(const std::string& path) {
  return parse_file(read_small_file(path, kMaxNetworkBytes), path);
}

std::string default_network_path(const Environment& environment) {
  return config_file(environment, "network.json");
}

NetworkProfile read_network_profile(const Environment& environment,
                                    std::vector<std::string>& problems) {
  std::string path = value_of(environment, kNetworkVariable);
  const bool is_named = !path.empty();
  if (lower_word(path) == "off") return {};
  if (!is_named) path = default_network_path(environment);
  if (path.empty()) return {};
  const SmallFile file = read_small_file(path, kMaxNetworkBytes);
  if (file.is_missing && !is_named) return {};
  Result<NetworkProfile> profile = parse_file(file, path);
  if (profile) return *std::move(profile);
  problems.push_back("network '" + path + "' ignored: " + profile.error() +
                     "; correct it, or set " + kNetworkVariable + "=off");
  return {};
}

}  // namespace hierbar::network
