// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/network_costs.hpp"

#include <iostream>
#include <vector>

#include "base/environment.hpp"
#include "cli/option/option_values.hpp"
#include "cli/option/typical_option.hpp"
#include "network/network_profile.hpp"

namespace hierbar {
namespace {

constexpr const char* kParametersOption = "--parameters";

[[noreturn]] void refuse_network(const std::string& path, const std::string& problem) {
  refuse(kNetworkOption, path, problem, "a file of measured networks, a typical network's name, or --parameters instead");
}

// A file may hold several networks; the last one was measured last.
NetworkCosts profile_costs(const network::NetworkProfile& profile) {
  if (profile.networks.empty()) refuse_network(profile.path, "it has no network");
  const network::MeasuredNetwork& measured = profile.networks.back();
  const std::string transport = measured.transport.empty() ? "" : " (" + measured.transport + ")";
  return {
      measured.slowest(),
      profile.path + ": " + measured.mpi_library + transport + ", measured on " + std::to_string(measured.num_nodes) + " nodes",
      nullptr};
}

}  // namespace

std::array<CLI::Option*, 2> add_network_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* file = add_network_option(command, kNetworkOption, options.network,
                                         "A file of measured networks; default: HIERBAR_NETWORK,\nelse network.json in "
                                         "$XDG_CONFIG_HOME/hierbar or ~/.config/hierbar");
  CLI::Option* costs = command.add_option(kParametersOption, options.parameters,
                                          std::string("The costs themselves: ") + network::kAllowedParameters);
  costs->type_name("LIST")->excludes(file);
  return {file, costs};
}

std::optional<NetworkCosts> read_network_costs(const CLI::App& command, const NetworkOptions& options) {
  if (command.count(kParametersOption) > 0) {
    return NetworkCosts{
        accept(network::parse_parameters(options.parameters), kParametersOption, options.parameters, network::kAllowedParameters),
        kParametersOption, nullptr};
  }
  if (command.count(kNetworkOption) > 0) {
    if (const network::TypicalNetwork* typical = find_typical(options.network)) {
      return NetworkCosts{typical->parameters, typical_source(*typical), typical};
    }
    const Result<network::NetworkProfile> profile = network::load_network_profile(options.network);
    if (!profile) refuse_network(options.network, profile.error());
    return profile_costs(*profile);
  }
  std::vector<std::string> problems;
  const network::NetworkProfile profile = network::read_network_profile(own_environment(), problems);
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  if (profile.networks.empty()) return std::nullopt;
  return profile_costs(profile);
}

}  // namespace hierbar
