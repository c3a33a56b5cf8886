// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/launcher.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "base/files.hpp"
#include "base/launchers.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

bool has_process_name(const Launcher& launcher, const Process& process) {
  return std::any_of(launcher.process_names.begin(), launcher.process_names.end(),
                     [&](const char* name) { return process.name == name; });
}

// The launcher that started this process (see find_launch()); null if there is none.
const Launcher* innermost(const Environment& environment, const std::vector<Process>& ancestors) {
  std::vector<const Launcher*> present;
  for (const Launcher& launcher : known_launchers()) {
    if (has_variables_of(launcher, environment)) present.push_back(&launcher);
  }
  for (const Process& ancestor : ancestors) {
    for (const Launcher* launcher : present) {
      if (has_process_name(*launcher, ancestor)) return launcher;
    }
  }
  return present.empty() ? nullptr : present.front();
}

Result<std::uint32_t> number_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  if (value == nullptr) return Error{std::string(name) + " is not set"};
  std::uint32_t number = 0;
  if (!parse_whole(std::string_view(value), number))
    return Error{std::string(name) + ": '" + value + "' is not a number"};
  return number;
}

// From the list of the ranks of each node.
Result<std::uint32_t> listed_local_size(const Launcher& launcher, const Environment& environment) {
  const std::string name = launcher.ranks_of_nodes;
  const Result<std::uint32_t> node = number_of(environment, launcher.node_index);
  if (!node) return node;
  const char* list = environment(launcher.ranks_of_nodes);
  if (list == nullptr) return Error{name + " is not set"};
  const Result<std::uint32_t> tasks = tasks_on_node(list, *node);
  if (!tasks) return Error{name + ": '" + list + "' " + tasks.error()};
  return tasks;
}

// From the ranks and the nodes of the whole job.
Result<std::uint32_t> even_local_size(const Launcher& launcher, const Environment& environment,
                                      bool& is_assumed) {
  const Result<std::uint32_t> tasks = number_of(environment, launcher.job_size);
  if (!tasks) return tasks;
  const Result<std::uint32_t> nodes = number_of(environment, launcher.num_nodes);
  if (!nodes) return nodes;
  if (*nodes == 0 || *tasks % *nodes != 0) {
    return Error{std::string(launcher.job_size) + ": '" + std::to_string(*tasks) +
                 "' tasks cannot be spread evenly over " + launcher.num_nodes + ": '" +
                 std::to_string(*nodes) + "' nodes"};
  }
  is_assumed = *nodes > 1;
  return *tasks / *nodes;
}

Result<std::uint32_t> local_size_of(const Launcher& launcher, const Environment& environment,
                                    bool& is_assumed) {
  if (launcher.local_size != nullptr) return number_of(environment, launcher.local_size);
  if (launcher.ranks_of_nodes != nullptr) return listed_local_size(launcher, environment);
  return even_local_size(launcher, environment, is_assumed);
}

// Empty if nothing tells this launch from another one.
std::string job_id_of(const Launcher& launcher, const Environment& environment,
                      const std::vector<Process>& ancestors) {
  std::string id;
  for (const char* name : launcher.job_id) {
    const std::string value = value_of(environment, name);
    if (value.empty()) {
      id.clear();
      break;
    }
    id += (id.empty() ? "" : ".") + value;
  }
  if (!id.empty()) return id;
  for (const Process& ancestor : ancestors) {
    if (has_process_name(launcher, ancestor)) {
      return "process " + std::to_string(ancestor.pid) + " started " +
             std::to_string(ancestor.start_ticks);
    }
  }
  return "";
}

}  // namespace

bool names_launcher(const Environment& environment) {
  return std::any_of(
      known_launchers().begin(), known_launchers().end(),
      [&](const Launcher& launcher) { return has_variables_of(launcher, environment); });
}

ProcessFacts own_process_facts() {
  return {.ancestors = read_ancestors(), .boot_id = read_boot_id()};
}

Result<Launch> find_launch(const Environment& environment, const ProcessFacts& facts) {
  const Launcher* launcher = innermost(environment, facts.ancestors);
  if (launcher == nullptr) return Error{"no launcher is known from the environment"};
  const std::string name = launcher->name;
  if (launcher->local_rank == nullptr)
    return Error{name + " launched this process but does not give its position on the node"};

  Launch launch;
  const Result<std::uint32_t> rank = number_of(environment, launcher->local_rank);
  if (!rank) return Error{name + ": " + rank.error()};
  const Result<std::uint32_t> size = local_size_of(*launcher, environment, launch.size_is_assumed);
  if (!size) return Error{name + ": " + size.error()};
  if (*rank >= *size) {
    return Error{name + ": " + launcher->local_rank + ": '" + std::to_string(*rank) +
                 "' is not below the " + std::to_string(*size) + " ranks of this node"};
  }
  const std::string job_id = job_id_of(*launcher, environment, facts.ancestors);
  if (job_id.empty())
    return Error{name + ": it gives no job id, and its process is not among the ancestors"};

  launch.launcher = name;
  launch.local_rank = *rank;
  launch.local_size = *size;
  launch.job_key = name + "/" + job_id + "/" + facts.boot_id;
  return launch;
}

const Process* find_launcher_process(const std::vector<Process>& ancestors) {
  const auto found = std::find_if(ancestors.begin(), ancestors.end(), [](const Process& process) {
    return std::any_of(
        known_launchers().begin(), known_launchers().end(),
        [&](const Launcher& launcher) { return has_process_name(launcher, process); });
  });
  return found == ancestors.end() ? nullptr : &*found;
}

Result<std::uint32_t> tasks_on_node(std::string_view list, std::uint32_t node_index) {
  const Error malformed{"is not a list such as 4(x2),3"};
  std::uint64_t num_nodes = 0;
  std::optional<std::uint32_t> found;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view run = list.substr(begin, end - begin);
    const std::size_t open = run.find("(x");
    std::uint32_t tasks = 0;
    std::uint32_t repeats = 1;
    if (!parse_whole(run.substr(0, open), tasks)) return malformed;
    if (open != std::string_view::npos) {
      if (run.back() != ')' || !parse_whole(run.substr(open + 2, run.size() - open - 3), repeats))
        return malformed;
    }
    num_nodes += repeats;
    if (!found && node_index < num_nodes) found = tasks;
    begin = end + 1;
  }
  if (!found) return Error{"has no node " + std::to_string(node_index)};
  return *found;
}

namespace {

// All processes that can be seen, by process number.
std::map<int, Process> read_processes() {
  std::map<int, Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    int pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    if (std::optional<Process> process = read_process(pid))
      processes.emplace(pid, std::move(*process));
  }
  return processes;
}

// The ancestors of a process, its parent first.
std::vector<Process> ancestors_of(const std::map<int, Process>& processes, const Process& process) {
  std::vector<Process> ancestors;
  for (auto at = processes.find(process.parent);
       at != processes.end() && ancestors.size() < kMaxAncestors;
       at = processes.find(at->second.parent)) {
    ancestors.push_back(at->second);
  }
  return ancestors;
}

// The rank in the whole job if the launcher tells it, otherwise the rank on the node.
std::uint32_t rank_of(const Environment& environment, const Launch& launch) {
  for (const Launcher& launcher : known_launchers()) {
    if (launch.launcher != launcher.name) continue;
    const char* text = rank_in_job(environment, launcher);
    std::uint32_t rank = 0;
    if (text != nullptr && std::from_chars(text, text + std::strlen(text), rank).ec == std::errc())
      return rank;
  }
  return launch.local_rank;
}

// A number that grows with the threads of a process: the kernel counts each thread as a
// subdirectory, which is a link to the directory. 0 if it cannot be read.
std::uint64_t num_threads(int pid) {
  struct stat status{};
  return stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &status) == 0 ? status.st_nlink
                                                                                : 0;
}

// A process that may stand for a rank.
struct Candidate {
  NodeRank rank;
  std::uint64_t num_threads;
  std::size_t depth;  // number of ancestors

  // Sorts by rank. Among the processes of one rank the best one comes first.
  bool operator<(const Candidate& other) const {
    const auto key = [](const Candidate& one) {
      return std::tie(one.rank.launch.local_rank, one.rank.launch.job_key);
    };
    if (key(*this) != key(other)) return key(*this) < key(other);
    if (num_threads != other.num_threads) return num_threads > other.num_threads;
    return std::pair(depth, rank.process.pid) > std::pair(other.depth, other.rank.process.pid);
  }
};

}  // namespace

std::optional<Environment> environment_of(int pid) {
  const std::optional<std::string> text =
      read_whole_file("/proc/" + std::to_string(pid) + "/environ");
  if (!text) return std::nullopt;
  const auto variables = std::make_shared<std::map<std::string, std::string>>();
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (const std::size_t equals = entry.find('='); equals != std::string_view::npos)
      variables->emplace(entry.substr(0, equals), entry.substr(equals + 1));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return [variables](const char* name) -> const char* {
    const auto found = variables->find(name);
    return found == variables->end() ? nullptr : found->second.c_str();
  };
}

std::vector<NodeRank> find_node_ranks(int root, const std::string& job_key) {
  const std::map<int, Process> processes = read_processes();
  const std::string boot_id = read_boot_id();
  std::vector<Candidate> candidates;
  for (const auto& [pid, process] : processes) {
    const ProcessFacts facts{.ancestors = ancestors_of(processes, process), .boot_id = boot_id};
    const auto is_root = [&](const Process& ancestor) { return ancestor.pid == root; };
    if (std::none_of(facts.ancestors.begin(), facts.ancestors.end(), is_root)) continue;
    std::optional<Environment> environment = environment_of(pid);
    if (!environment) continue;
    const Result<Launch> launch = find_launch(*environment, facts);
    if (!launch || (!job_key.empty() && launch->job_key != job_key)) continue;
    // A launcher's child binds itself and then starts the program. What was read before the
    // program's environment may be older than the binding.
    std::optional<Process> rank = read_process(pid);
    if (!rank) continue;
    candidates.push_back(
        {{*launch, rank_of(*environment, *launch), std::move(*rank), std::move(*environment)},
         num_threads(pid),
         facts.ancestors.size()});
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<NodeRank> ranks;
  for (const auto& [rank, threads, depth] : candidates) {
    const bool is_same = !ranks.empty() &&
                         ranks.back().launch.local_rank == rank.launch.local_rank &&
                         ranks.back().launch.job_key == rank.launch.job_key;
    if (!is_same) ranks.push_back(rank);
  }
  return ranks;
}

std::string program_of(int pid) {
  char path[PATH_MAX];
  const ssize_t length =
      readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return length < 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

}  // namespace hierbar
