// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/place_command.hpp"

#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/machine_option.hpp"
#include "cli/option_values.hpp"
#include "placement/launch.hpp"
#include "placement/share.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMaxRanks = 65536;
constexpr std::uint32_t kMaxThreads = 65536;
constexpr const char* kThreadsAllowed = "one number for all ranks, or one for each, 1 to 65536, separated by commas";

struct PlaceOptions {
  std::string num_ranks;
  std::string threads;
  std::string cpus;
  std::string description;
  bool json = false;
};

std::uint32_t parse_num_ranks(const std::string& text) {
  const std::uint32_t number = parse_count(text, kMaxRanks);
  if (number == 0) refuse("-n", text, "no such number of ranks", "1 to " + std::to_string(kMaxRanks));
  return number;
}

std::vector<std::uint32_t> parse_threads(const std::string& text, std::uint32_t num_ranks) {
  std::vector<std::uint32_t> threads;
  std::stringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    threads.push_back(parse_count(part, kMaxThreads));
    if (threads.back() == 0) refuse("-t", text, "'" + part + "' is no number of threads", kThreadsAllowed);
  }
  if (threads.size() == 1) threads.resize(num_ranks, threads.front());
  if (threads.size() != num_ranks) refuse("-t", text, "not a number for each of " + std::to_string(num_ranks), kThreadsAllowed);
  return threads;
}

CpuSet chosen_pool(const CLI::App& command, const PlaceOptions& options, const Machine& machine) {
  if (command.count("--cpus") == 0) return machine.allowed;
  const std::string allowed = "cpus of the machine, as in 0-3,8";
  const CpuSet pool = accept(CpuSet::parse(options.cpus), "--cpus", options.cpus, allowed);
  if (!pool.is_subset_of(machine.present)) refuse("--cpus", options.cpus, "not all are cpus of this machine", allowed);
  return pool;
}

struct Column {
  const char* title;
  Level level;
};
constexpr Column kColumns[] = {
    {"cores", Level::kCore}, {"L3", Level::kL3}, {"NUMA", Level::kNuma}, {"packages", Level::kPackage}};

void print_text(const Machine& machine, const std::vector<std::uint32_t>& threads, const std::vector<CpuSet>& shares) {
  std::cout << threads.size() << (threads.size() == 1 ? " rank on " : " ranks on ") << machine.name << "\n\n";
  std::cout << "  rank  threads";
  for (const Column& column : kColumns) std::cout << "  " << column.title;
  std::cout << "  cpus\n";
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    std::cout << std::setw(6) << rank << std::setw(9) << threads[rank];
    for (const Column& column : kColumns) {
      std::cout << std::setw(2 + static_cast<int>(std::string(column.title).size()))
                << count_touched(machine, shares[rank], column.level);
    }
    std::cout << "  " << shares[rank].to_string() << '\n';
  }
  std::cout << "\nMPICH    mpiexec -n " << shares.size() << ' ' << hydra_option(shares) << "\nSlurm    srun -n " << shares.size()
            << ' ' << slurm_option(shares) << "\nOpenMP   ";
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    std::cout << (rank == 0 ? "" : "         ") << "rank " << rank << ": OMP_NUM_THREADS=" << threads[rank]
              << " OMP_PLACES=" << omp_places(machine, shares[rank]) << '\n';
  }
}

nlohmann::ordered_json to_json(const Machine& machine, const CpuSet& pool, const std::vector<std::uint32_t>& threads,
                               const std::vector<CpuSet>& shares) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    ranks.push_back({{"rank", rank},
                     {"threads", threads[rank]},
                     {"cpus", shares[rank].to_string()},
                     {"cores", count_touched(machine, shares[rank], Level::kCore)},
                     {"l3", count_touched(machine, shares[rank], Level::kL3)},
                     {"numa", count_touched(machine, shares[rank], Level::kNuma)},
                     {"packages", count_touched(machine, shares[rank], Level::kPackage)},
                     {"omp_places", omp_places(machine, shares[rank])}});
  }
  return {{"machine", machine.name},
          {"pool", pool.to_string()},
          {"ranks", ranks},
          {"mpiexec", hydra_option(shares)},
          {"srun", slurm_option(shares)}};
}

void show(const CLI::App& command, const PlaceOptions& options) {
  const std::uint32_t num_ranks = parse_num_ranks(options.num_ranks);
  const std::vector<std::uint32_t> threads = parse_threads(options.threads, num_ranks);
  const Machine machine = load_chosen_machine(command, options.description);
  const CpuSet pool = chosen_pool(command, options, machine);
  const std::vector<CpuSet> shares =
      accept(share_out(machine, pool, threads), "-n", options.num_ranks, "at most one rank per cpu");

  const std::uint64_t sum = std::accumulate(threads.begin(), threads.end(), std::uint64_t{0});
  const std::uint32_t num_cores = machine.one_cpu_per_core(pool).count();
  if (sum > num_cores) std::cerr << "hierbar: " << sum << " threads share " << num_cores << " cores\n";
  if (options.json) {
    std::cout << to_json(machine, pool, threads, shares).dump(2) << '\n';
  } else {
    print_text(machine, threads, shares);
  }
}

}  // namespace

void add_place_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("place", "Share a node out among the ranks of a hybrid job, along the machine's tree");
  auto options = std::make_shared<PlaceOptions>();
  command->add_option("-n,--ranks", options->num_ranks, "How many ranks on the node")->required()->type_name("N");
  command->add_option("-t,--threads", options->threads, std::string("Threads of a rank: ") + kThreadsAllowed)
      ->required()
      ->type_name("T[,T...]");
  command->add_option("--cpus", options->cpus, "The cpus to share out; default: those this process may use")->type_name("LIST");
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Shares are disjoint and in proportion to the threads. Each rank gets whole cores, at least one for every thread where\n"
      "there are that many; cuts fall between packages where they can, then between NUMA nodes, then between L3 caches.\n"
      "The columns tell how many of each a share touches.\n"
      "\n"
      "Examples:\n"
      "  hierbar place -n 4 -t 4\n"
      "  hierbar place -n 3 -t 8,4,4 --cpus 0-31 --json\n"
      "  hierbar place -n 3 -t 5 --topology 'pack:2 [numa] l3:4 core:2 pu:1'\n");
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
