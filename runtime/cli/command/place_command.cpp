// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/option/machine_option.hpp"
#include "placement/share/launcher_settings.hpp"
#include "placement/share/share.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMaxRanks = 65536;
constexpr const char* kThreadsAllowed =
    "one number for all ranks, or one for each, 1 to 65536, separated by commas";

struct PlaceOptions {
  std::string num_ranks;
  std::string threads;
  std::string cpus;
  std::string pattern = "share";
  std::string proc_bind = "spread";
  std::string settings;
  std::string num_nodes;
  std::string description;
  bool json = false;
};

// The placement that is printed: of one node, as all nodes have it.
struct Placement {
  NodePlacement node;
  ProcBind proc_bind;
  CpuSet pool;
  std::uint32_t num_nodes;
};

std::uint32_t parse_num_ranks(const std::string& text) {
  const std::uint32_t number = parse_count(text, kMaxRanks);
  if (number == 0)
    refuse(kPerNodeOption, text, "no such number of ranks", "1 to " + std::to_string(kMaxRanks));
  return number;
}

std::vector<std::uint32_t> parse_threads(const std::string& text, std::uint32_t num_ranks) {
  std::vector<std::uint32_t> threads;
  std::stringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    threads.push_back(parse_count(part, kMaxThreads));
    if (threads.back() == 0)
      refuse("-t", text, "'" + part + "' is not a valid number of threads", kThreadsAllowed);
  }
  if (threads.size() == 1) threads.resize(num_ranks, threads.front());
  if (threads.size() != num_ranks)
    refuse("-t", text, "not a number for each of " + std::to_string(num_ranks), kThreadsAllowed);
  return threads;
}

CpuSet chosen_pool(const CLI::App& command, const PlaceOptions& options, const Machine& machine) {
  if (command.count("--cpus") == 0) return machine.allowed;
  const std::string allowed = "cpus of the machine, as in 0-3,8";
  const CpuSet pool = accept(CpuSet::parse(options.cpus), "--cpus", options.cpus, allowed);
  if (!pool.is_subset_of(machine.present))
    refuse("--cpus", options.cpus, "not all are cpus of this machine", allowed);
  return pool;
}

struct PlacementColumn {
  const char* title;
  const char* key;
  Level level;
};
constexpr PlacementColumn kPlacementColumns[] = {{"cores", "cores", Level::kCore},
                                                 {"L3", "l3", Level::kL3},
                                                 {"NUMA", "numa", Level::kNuma},
                                                 {"packages", "packages", Level::kPackage}};

Pattern parse_pattern_option(const std::string& name) {
  if (const std::optional<Pattern> pattern = parse_pattern(name)) return *pattern;
  std::string allowed;
  for (const PatternText& text : all_patterns())
    allowed += (allowed.empty() ? "" : ", ") + std::string(text.name);
  refuse("--pattern", name, "no such pattern", allowed);
}

ProcBind parse_proc_bind_option(const std::string& name) {
  if (const std::optional<ProcBind> bind = parse_proc_bind(name)) return *bind;
  refuse("--proc-bind", name, "no such policy", "close, spread, primary");
}

// Puts `indent` before each line of `text`.
std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result += indent + line + '\n';
  return result;
}

void print_text(const Machine& machine, const Placement& placement) {
  const std::size_t num_ranks = placement.node.shares.size();
  const std::size_t num_all = num_ranks * placement.num_nodes;
  std::cout << num_ranks << (num_ranks == 1 ? " rank on " : " ranks on ")
            << (placement.num_nodes == 1
                    ? ""
                    : "each of " + std::to_string(placement.num_nodes) + " nodes: ")
            << machine.name << ", pattern " << pattern_name(placement.node.pattern) << "\n\n";
  std::cout << "  rank  threads";
  for (const PlacementColumn& column : kPlacementColumns) std::cout << "  " << column.title;
  std::cout << "  cpus\n";
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    std::cout << std::setw(6) << rank << std::setw(9) << placement.node.threads[rank];
    for (const PlacementColumn& column : kPlacementColumns) {
      std::cout << std::setw(2 + static_cast<int>(std::string(column.title).size()))
                << count_touched(machine, placement.node.shares[rank], column.level);
    }
    std::cout << "  " << placement.node.shares[rank].to_string() << '\n';
  }
  const bool several = placement.num_nodes > 1;
  const std::string per_node = std::to_string(num_ranks);
  std::cout << "\nMPICH    mpiexec -n " << num_all << ' '
            << (several ? "-ppn " + per_node + ' ' : "")
            << *launcher_setting("mpiexec", placement.node) << "\nSlurm    srun "
            << (several ? "-N " + std::to_string(placement.num_nodes) +
                              " --ntasks-per-node=" + per_node + ' '
                        : "")
            << "-n " << num_all << ' ' << *launcher_setting("srun", placement.node)
            << "\nOpen MPI ";
  if (const Result<std::string> file =
          rankfile(machine, placement.node.shares, placement.num_nodes)) {
    std::cout << "mpiexec -n " << num_all << " --rankfile FILE, where FILE holds\n"
              << indented(*file, "         ");
  } else {
    std::cout << "no rankfile: " << file.error() << '\n';
  }
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    std::cout << (rank == 0 ? "OpenMP   " : "         ") << "rank " << rank << ": "
              << openmp_settings(placement.node, rank, placement.proc_bind) << '\n';
  }
}

nlohmann::ordered_json rank_json(const Machine& machine, const Placement& placement,
                                 std::size_t rank) {
  const CpuSet& share = placement.node.shares[rank];
  const std::uint32_t threads = placement.node.threads[rank];
  const std::vector<CpuSet> places = places_in(machine, share, threads, placement.proc_bind);
  nlohmann::ordered_json thread_cpus = nlohmann::ordered_json::array();
  for (const CpuSet& cpus : bind_threads(places, threads, placement.proc_bind))
    thread_cpus.push_back(cpus.to_string());
  nlohmann::ordered_json json = {{"rank", rank}, {"threads", threads}, {"cpus", share.to_string()}};
  for (const PlacementColumn& column : kPlacementColumns)
    json[column.key] = count_touched(machine, share, column.level);
  json["omp_places"] = to_omp_places(places);
  json["thread_cpus"] = thread_cpus;
  return json;
}

nlohmann::ordered_json placement_json(const Machine& machine, const Placement& placement) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < placement.node.shares.size(); ++rank)
    ranks.push_back(rank_json(machine, placement, rank));
  const Result<std::string> file = rankfile(machine, placement.node.shares, placement.num_nodes);
  return {{"machine", machine.name},
          {"pool", placement.pool.to_string()},
          {"num_nodes", placement.num_nodes},
          {"pattern", pattern_name(placement.node.pattern)},
          {"omp_proc_bind", proc_bind_name(placement.proc_bind)},
          {"ranks", ranks},
          {"mpiexec", *launcher_setting("mpiexec", placement.node)},
          {"srun", *launcher_setting("srun", placement.node)},
          {"rankfile", file ? nlohmann::ordered_json(*file) : nullptr}};
}

std::uint32_t parse_num_nodes(const CLI::App& command, const std::string& text) {
  if (command.count("--nodes") == 0) return 1;
  const std::uint32_t number = parse_count(text, kMaxRanks);
  if (number == 0)
    refuse("--nodes", text, "no such number of nodes", "1 to " + std::to_string(kMaxRanks));
  return number;
}

void warn_of_sharing(const Machine& machine, const Placement& placement) {
  const std::uint64_t sum = std::accumulate(placement.node.threads.begin(),
                                            placement.node.threads.end(), std::uint64_t{0});
  const std::uint32_t num_cores = machine.one_cpu_per_core(placement.pool).count();
  if (sum > num_cores)
    std::cerr << "hierbar: " << sum << " threads share " << num_cores << " cores\n";
}

void show(const CLI::App& command, const PlaceOptions& options) {
  const Pattern pattern = parse_pattern_option(options.pattern);
  const ProcBind proc_bind = parse_proc_bind_option(options.proc_bind);
  const std::vector<std::uint32_t> threads =
      parse_threads(options.threads, parse_num_ranks(options.num_ranks));
  const std::uint32_t num_nodes = parse_num_nodes(command, options.num_nodes);
  const bool only_settings = command.count("--settings") > 0;
  if (only_settings && !is_place_settings(options.settings)) {
    refuse("--settings", options.settings, "no such settings", place_settings_names());
  }
  const Machine machine = load_chosen_machine(command, options.description);
  const CpuSet pool = chosen_pool(command, options, machine);
  const Placement placement{
      .node = {machine, pattern, threads,
               accept(place_ranks(pattern, machine, pool, threads), kPerNodeOption,
                      options.num_ranks, "at most one rank per cpu")},
      .proc_bind = proc_bind,
      .pool = pool,
      .num_nodes = num_nodes};
  warn_of_sharing(machine, placement);
  if (options.json) {
    std::cout << placement_json(machine, placement).dump(2) << '\n';
  } else if (only_settings) {
    std::cout << accept(place_settings(options.settings, placement.node, num_nodes, proc_bind),
                        "--settings", options.settings, place_settings_names());
  } else {
    print_text(machine, placement);
  }
}

std::string pattern_help() {
  std::ostringstream text;
  for (const PatternText& pattern : all_patterns()) {
    text << "  " << std::left << std::setw(13) << pattern.name << pattern.meaning << '\n';
  }
  return text.str();
}

std::string place_help() {
  return "Patterns, with an example of where 8 ranks of one thread go on two packages of four "
         "cores:\n" +
         pattern_help() +
         "\n"
         "A rank gets as many cores (with threads and rank: cpus) as it has threads; 'share' gives "
         "out the whole pool. Cores are\n"
         "used before second hardware threads. The shares of 'share' are disjoint, with at least "
         "one core for every thread if there\n"
         "are enough. They are cut between packages if possible, then between NUMA nodes, then "
         "between L3 caches. The columns\n"
         "show how many of each a rank uses.\n"
         "\n"
         "OMP_PLACES has a place for each core of the rank. If the rank has more threads than "
         "cores, it has a place for each cpu,\n"
         "ordered so that each core has a thread before one has two. With --proc-bind primary it "
         "has one place for all threads.\n"
         "\n"
         "Settings:\n" +
         place_settings_help() +
         "\n"
         "Examples:\n"
         "  hierbar place --per-node 4 -t 4\n"
         "  hierbar place --per-node 2 -t 4 --nodes 8\n"
         "  hierbar place --per-node 3 -t 8,4,4 --cpus 0-31 --json\n"
         "  hierbar place --per-node 4 -t 4 --settings rankfile > ranks && mpiexec --rankfile "
         "ranks "
         "-n 4 "
         "./app\n"
         "  mpiexec $(hierbar place --per-node 2 -t 8 --pattern packed --settings mpiexec) -n 2 "
         "./app\n"
         "  hierbar place --per-node 3 -t 5 --topology 'pack:2 [numa] l3:4 core:2 pu:1'\n";
}

}  // namespace

void add_place_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "place", "Share a node out among the ranks of a hybrid job, along the machine's tree");
  auto options = std::make_shared<PlaceOptions>();
  command->add_option(kPerNodeOption, options->num_ranks, "Ranks of a node")
      ->required()
      ->type_name("N");
  command
      ->add_option("-t,--threads", options->threads,
                   std::string("Threads of each rank: ") + kThreadsAllowed)
      ->required()
      ->type_name("T[,T...]");
  command
      ->add_option("--cpus", options->cpus,
                   "The cpus to share out; default: those this process may use")
      ->type_name("LIST");
  command
      ->add_option("--pattern", options->pattern, "How ranks are bound, see below; default: share")
      ->type_name("NAME");
  command
      ->add_option("--proc-bind", options->proc_bind,
                   "OMP_PROC_BIND for the threads of a rank inside its cpus: close, spread or "
                   "primary; default: spread")
      ->type_name("close|spread|primary");
  command
      ->add_option("--settings", options->settings,
                   "Print nothing but the settings for one launcher or for OpenMP, see below")
      ->type_name(place_settings_names("|"));
  command
      ->add_option("--nodes", options->num_nodes, "Nodes of the job, all like this one; default: 1")
      ->type_name("N");
  refuse_name(*command, "-n,--ranks", "--per-node here, because it counts the ranks of a node");
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(place_help());
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
