// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/placement/placed_threads.hpp"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <tuple>

namespace hierbar {
namespace {

// The numbers among a directory's entries, ascending.
CpuSet numbered_entries(const std::string& path) {
  CpuSet numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    std::uint32_t number = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, number).ptr == end && number > 0) numbers.set(number);
  }
  return numbers;
}

// The first thread, then the others in the order in which they were made. Thread ids are reused, so
// they only decide between threads that were made in the same tick of the kernel's clock.
std::vector<Process> tasks_of(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/task";
  std::vector<Process> tasks;
  for (const std::uint32_t tid : numbered_entries(directory)) {
    if (std::optional<Process> task = read_process(static_cast<int>(tid), directory)) tasks.push_back(std::move(*task));
  }
  const auto key = [&](const Process& task) { return std::tuple(task.pid != pid, task.start_ticks, task.pid); };
  std::sort(tasks.begin(), tasks.end(), [&](const Process& a, const Process& b) { return key(a) < key(b); });
  return tasks;
}

void append_threads(int pid, std::optional<std::uint32_t> rank, std::vector<PlacedThread>& threads) {
  std::uint32_t index = 0;
  for (const Process& task : tasks_of(pid)) threads.push_back({rank, index++, pid, task.pid, task.name, task.cpus});
}

bool is_below(int pid, int ancestor) {
  std::optional<Process> process = read_process(pid);
  while (process && process->parent > 1 && process->parent != ancestor) process = read_process(process->parent);
  return process && process->parent == ancestor;
}

}  // namespace

std::vector<PlacedThread> predicted_threads(const std::vector<RankView>& ranks) {
  std::vector<PlacedThread> threads;
  for (const RankView& rank : ranks) {
    for (std::uint32_t i = 0; i < rank.team.num_threads; ++i) threads.push_back({rank.rank, i, 0, 0, "", rank.team.cpus[i]});
  }
  return threads;
}

Result<std::vector<PlacedThread>> threads_of_process(int pid) {
  std::vector<PlacedThread> threads;
  std::optional<std::uint32_t> rank;
  for (const NodeRank& found : find_node_ranks(1)) {
    if (found.process.pid == pid) rank = found.rank;
  }
  append_threads(pid, rank, threads);
  if (threads.empty()) return Error{"there is no process " + std::to_string(pid) + " to be seen"};
  return threads;
}

Result<std::vector<PlacedThread>> threads_of_job(int launcher_pid) {
  std::vector<PlacedThread> threads;
  if (!read_process(launcher_pid)) return Error{"there is no process " + std::to_string(launcher_pid) + " to be seen"};
  for (const NodeRank& rank : find_node_ranks(launcher_pid)) append_threads(rank.process.pid, rank.rank, threads);
  if (!threads.empty()) return threads;
  for (const std::uint32_t pid : numbered_entries("/proc")) {
    if (is_below(static_cast<int>(pid), launcher_pid)) append_threads(static_cast<int>(pid), std::nullopt, threads);
  }
  if (threads.empty()) return Error{"process " + std::to_string(launcher_pid) + " has no children to be seen"};
  return threads;
}

std::vector<RankView> ranks_of_threads(const std::vector<PlacedThread>& threads) {
  std::vector<RankView> ranks;
  int pid = 0;
  std::string program;
  for (const PlacedThread& thread : threads) {  // the threads of a process are next to each other
    if (ranks.empty() || thread.pid != pid) {
      pid = thread.pid;
      program = thread.name;
      ranks.push_back({thread.rank.value_or(static_cast<std::uint32_t>(pid)), CpuSet(), TeamShape()});
      ranks.back().team.num_threads = 0;
    }
    if (thread.name != program) continue;
    RankView& rank = ranks.back();
    rank.mask |= thread.cpus;
    rank.team.cpus.push_back(thread.cpus);
    ++rank.team.num_threads;
  }
  for (RankView& rank : ranks) {
    rank.team.is_bound =
        std::any_of(rank.team.cpus.begin(), rank.team.cpus.end(), [&](const CpuSet& cpus) { return cpus != rank.mask; });
  }
  return ranks;
}

std::string thread_label(const PlacedThread& thread) {
  return std::to_string(thread.rank ? *thread.rank : static_cast<std::uint32_t>(thread.pid)) + "." +
         std::to_string(thread.thread);
}

std::vector<std::size_t> sharers(const std::vector<PlacedThread>& threads, std::size_t index) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (i != index && threads[i].cpus.intersects(threads[index].cpus)) others.push_back(i);
  }
  return others;
}

std::string touched_units(const Machine& machine, const CpuSet& cpus, Level level) {
  CpuSet touched;
  std::uint32_t index = 0;
  for (const Unit& unit : machine.units) {
    if (!unit.has(level)) continue;
    if (unit.cpus.intersects(cpus)) touched.set(index);
    ++index;
  }
  return touched.empty() ? "-" : touched.to_string();
}

}  // namespace hierbar
