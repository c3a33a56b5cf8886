// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/channel_costs.hpp"

#include <iostream>
#include <map>

#include "base/files.hpp"
#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/network_options.hpp"
#include "network/contention/traffic.hpp"
#include "network/network_profile.hpp"

namespace hierbar {
namespace {

constexpr const char* kMatrixOption = "--matrix";
constexpr const char* kAlltoallOption = "--alltoall";
constexpr const char* kModelOption = "--model";
constexpr const char* kMeasure =
    "a file that 'hierbar tune --between-nodes --contention' has written on such nodes";

network::Traffic read_matrix(const std::string& path, std::uint32_t num_ranks) {
  const std::string allowed =
      "a CSV file with a line of bytes for each of " + std::to_string(num_ranks) + " ranks";
  const SmallFile file = read_small_file(path, network::kMaxMatrixBytes);
  if (!file.problem.empty()) refuse(kMatrixOption, path, file.problem, allowed);
  network::Traffic traffic = accept(network::parse_matrix(file.text), kMatrixOption, path, allowed);
  if (traffic.num_ranks != num_ranks) {
    refuse(kMatrixOption, path, "it has " + std::to_string(traffic.num_ranks) + " ranks", allowed);
  }
  return traffic;
}

network::Traffic read_traffic(const CLI::App& command, const PredictionOptions& options,
                              std::uint32_t num_ranks) {
  if (options.matrix.empty() == options.traffic.empty()) {
    throw CLI::ValidationError(command.get_name(),
                               "needs --traffic or --matrix, and not both; traffic: " +
                                   std::string(network::kAllowedTraffic));
  }
  network::Traffic traffic = options.traffic.empty()
                                 ? read_matrix(options.matrix, num_ranks)
                                 : accept(network::parse_traffic(options.traffic), kTrafficOption,
                                          options.traffic, network::kAllowedTraffic);
  if (options.alltoall.empty()) return traffic;
  return accept(network::with_algorithm(std::move(traffic), options.alltoall), kAlltoallOption,
                options.alltoall, network::kAllowedAlgorithms);
}

network::Model read_model(const std::string& name) {
  if (name == "paper") return network::Model::kPaper;
  if (name == "shared") return network::Model::kShared;
  refuse(kModelOption, name, "no such model", network::kAllowedModels);
}

network::NetworkProfile load_profile(const PredictionOptions& options) {
  if (!options.network.empty()) {
    return accept(network::load_network_profile(options.network), kNetworkOption, options.network,
                  kMeasure);
  }
  std::vector<std::string> problems;
  network::NetworkProfile profile = network::read_network_profile(own_environment(), problems);
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  if (profile.path.empty()) {
    throw CLI::ValidationError(
        kNetworkOption, std::string("the costs of this network are not known; give ") + kMeasure +
                            ", or the name of a typical network: " + network::typical_names());
  }
  return profile;
}

// The network that was measured last, among those with shared channels of this machine.
ChannelCosts find_costs(const PredictionOptions& options, const Machine& machine) {
  if (!options.network.empty()) {
    if (const network::TypicalNetwork* typical = find_typical(options.network)) {
      return {typical->contention(), typical->parameters, typical_source(*typical), typical};
    }
  }
  const network::NetworkProfile profile = load_profile(options);
  const std::string identity = machine_identity(machine);
  std::string others;
  for (auto at = profile.networks.rbegin(); at != profile.networks.rend(); ++at) {
    if (!at->contention) continue;
    if (at->contention->machine == identity) {
      return {*at->contention, at->slowest(),
              profile.path + ": " + at->mpi_library +
                  (at->transport.empty() ? "" : " (" + at->transport + ")"),
              nullptr};
    }
    others += (others.empty() ? "'" : ", '") + at->contention->machine + "'";
  }
  const std::string problem =
      others.empty() ? "it contains no costs of shared channels"
                     : "it was measured on " + others + ", and this machine is '" + identity + "'";
  refuse(kNetworkOption, profile.path, problem,
         std::string(kMeasure) + ", or give --topology with the machine of those costs");
}

const Unit* enclosing(const Machine& machine, const CpuSet& cpus, Level level) {
  for (int at = machine.smallest_unit_containing(cpus); at >= 0; at = machine.units[at].parent) {
    if (machine.units[at].has(level)) return &machine.units[at];
  }
  return nullptr;
}

network::Spot spot_of(const Machine& machine, std::uint32_t node, const CpuSet& share) {
  CpuSet first;
  first.set(static_cast<std::uint32_t>(share.first()));
  const auto number = [&](const Unit* unit) {
    return static_cast<std::uint32_t>(unit - machine.units.data());
  };
  const Unit* package = enclosing(machine, first, Level::kPackage);
  const Unit* numa = enclosing(machine, first, Level::kNuma);
  const Unit* l3 = enclosing(machine, first, Level::kL3);
  const std::uint32_t package_number = package == nullptr ? 0 : number(package);
  return {.node = node,
          .package = package_number,
          .numa = numa == nullptr ? package_number : number(numa),
          .l3 = l3 == nullptr ? static_cast<std::uint32_t>(machine.smallest_unit_containing(first))
                              : number(l3)};
}

}  // namespace

void add_prediction_options(CLI::App& command, PredictionOptions& options) {
  command
      .add_option("-n,--ranks", options.num_ranks,
                  "Ranks of the job, 1 to " + std::to_string(network::kMostTrafficRanks))
      ->required()
      ->type_name("N");
  command
      .add_option(kTrafficOption, options.traffic,
                  std::string("Traffic of the program: ") + network::kAllowedTraffic)
      ->type_name("TRAFFIC");
  command
      .add_option(kMatrixOption, options.matrix,
                  "In place of --traffic: the bytes that each rank sends to each, as CSV;\n"
                  "a program run with HIERBAR_COUNT writes it")
      ->type_name("FILE");
  command
      .add_option(kAlltoallOption, options.alltoall,
                  std::string("All-to-all algorithm: ") + network::kAllowedAlgorithms +
                      "; default: blocked:32")
      ->type_name("NAME");
  command
      .add_option(kModelOption, options.model,
                  std::string("Model: ") + network::kAllowedModels + ", see below")
      ->type_name("NAME")
      ->capture_default_str();
  add_network_option(command, options.network);
  refuse_name(command, "--algorithm", kAlltoallOption);
  refuse_name(command, "--profile", std::string(kNetworkOption) + " here");
  add_machine_option(command, options.description);
}

PredictionRequest read_prediction_request(const CLI::App& command,
                                          const PredictionOptions& options) {
  PredictionRequest request;
  request.num_ranks = parse_count(options.num_ranks, network::kMostTrafficRanks);
  if (request.num_ranks == 0) {
    refuse("-n", options.num_ranks, "no such number of ranks",
           "1 to " + std::to_string(network::kMostTrafficRanks));
  }
  request.model = read_model(options.model);
  request.traffic = read_traffic(command, options, request.num_ranks);
  request.machine = load_chosen_machine(command, options.description);
  request.costs = find_costs(options, request.machine);
  return request;
}

std::uint32_t num_cores(const Machine& machine) {
  return machine.one_cpu_per_core(machine.allowed).count();
}

std::string machine_identity(const Machine& machine) {
  const std::uint32_t cores = machine.one_cpu_per_core(machine.present).count();
  return machine.name + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

Result<std::vector<network::Spot>> spots_of(const Machine& machine, Pattern pattern,
                                            const network::Split& split,
                                            std::uint32_t num_threads) {
  std::map<std::uint32_t, std::vector<CpuSet>> shares;  // by the number of ranks: few nodes differ
  std::vector<network::Spot> spots;
  for (std::uint32_t node = 0; node < split.size(); ++node) {
    const std::uint32_t num_ranks = split[node];
    if (shares.count(num_ranks) == 0) {
      Result<std::vector<CpuSet>> placed = place_ranks(
          pattern, machine, machine.allowed, std::vector<std::uint32_t>(num_ranks, num_threads));
      if (!placed) return Error{placed.error()};
      shares[num_ranks] = *std::move(placed);
    }
    for (const CpuSet& share : shares[num_ranks]) spots.push_back(spot_of(machine, node, share));
  }
  return spots;
}

}  // namespace hierbar
