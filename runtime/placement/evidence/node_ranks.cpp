// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/node_ranks.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>

#include "base/launchers.hpp"
#include "base/process/process_stat.hpp"

namespace hierbar {
namespace {

// All processes that can be seen, by process number.
std::map<int, Process> read_processes() {
  std::map<int, Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    int pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    if (std::optional<Process> process = read_process(pid)) processes.emplace(pid, std::move(*process));
  }
  return processes;
}

// The ancestors of a process, its parent first.
std::vector<Process> ancestors_of(const std::map<int, Process>& processes, const Process& process) {
  std::vector<Process> ancestors;
  for (auto at = processes.find(process.parent); at != processes.end() && ancestors.size() < kMaxAncestors;
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
    if (text != nullptr && std::from_chars(text, text + std::strlen(text), rank).ec == std::errc()) return rank;
  }
  return launch.local_rank;
}

// A number that grows with the threads of a process: the kernel counts each thread as a
// subdirectory, which is a link to the directory. 0 if it cannot be read.
std::uint64_t num_threads(int pid) {
  struct stat status{};
  return stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &status) == 0 ? status.st_nlink : 0;
}

// A process that may stand for a rank.
struct Candidate {
  NodeRank rank;
  std::uint64_t num_threads;
  std::size_t depth;  // number of ancestors

  // Sorts by rank. Among the processes of one rank the best one comes first.
  bool operator<(const Candidate& other) const {
    const auto key = [](const Candidate& one) { return std::tie(one.rank.launch.local_rank, one.rank.launch.job_key); };
    if (key(*this) != key(other)) return key(*this) < key(other);
    if (num_threads != other.num_threads) return num_threads > other.num_threads;
    return std::pair(depth, rank.process.pid) > std::pair(other.depth, other.rank.process.pid);
  }
};

}  // namespace

std::optional<Environment> environment_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  if (!file) return std::nullopt;
  const auto variables = std::make_shared<std::map<std::string, std::string>>();
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (const std::size_t equals = entry.find('='); equals != std::string::npos) {
      variables->emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
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
    candidates.push_back({{*launch, rank_of(*environment, *launch), std::move(*rank), std::move(*environment)},
                          num_threads(pid),
                          facts.ancestors.size()});
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<NodeRank> ranks;
  for (const auto& [rank, threads, depth] : candidates) {
    const bool is_same = !ranks.empty() && ranks.back().launch.local_rank == rank.launch.local_rank &&
                         ranks.back().launch.job_key == rank.launch.job_key;
    if (!is_same) ranks.push_back(rank);
  }
  return ranks;
}

std::string program_of(int pid) {
  char path[PATH_MAX];
  const ssize_t length = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return length < 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

}  // namespace hierbar
