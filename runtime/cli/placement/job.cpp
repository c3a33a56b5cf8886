// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/placement/job.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

#include "placement/decision/decide.hpp"

namespace hierbar {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenPolls = std::chrono::milliseconds(5);
// The name that a rank gives itself when it has seen the speaker, so that the speaker knows. The
// kernel keeps 15 characters.
constexpr const char* kListenerName = "hierbar listens";

// Waits for ranks that a launcher starts one after the other: the time begins anew with each that
// comes, since on a slow machine the last comes long after the first.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds most) : most_(most) {}

  bool is_over(std::size_t num_ranks) {
    if (num_ranks > most_seen_) {
      most_seen_ = num_ranks;
      start_ = Clock::now();
    }
    return Clock::now() - start_ >= most_;
  }

 private:
  const std::chrono::milliseconds most_;
  std::size_t most_seen_ = 0;
  Clock::time_point start_ = Clock::now();
};

NodeRank this_process() {
  const std::optional<Process> process = read_process(getpid());
  return {.launch = {},
          .rank = 0,
          .process = process.value_or(Process{}),
          .environment = own_environment()};
}

// The decision that libomp would take for these ranks. This process must be one of them.
Decision predict_placement(const Machine& machine, const std::vector<NodeRank>& ranks,
                           const std::vector<RankAhead>& ahead) {
  if (ranks.front().launch.job_key.empty()) return {{}, "no launcher", "no-launcher"};
  Result<PoolEvidence> evidence =
      read_pool_evidence(ranks.front().environment, own_process_facts().ancestors);
  return evidence ? predict_shares(machine, *std::move(evidence), ahead)
                  : Decision{{}, evidence.error(), "no-pool"};
}

// An environment with another OMP_NUM_THREADS. Both arguments must live as long as the result.
Environment with_threads(const Environment& environment, const std::string& number) {
  return [&environment, &number](const char* name) -> const char* {
    return std::string_view(name) == "OMP_NUM_THREADS" ? number.c_str() : environment(name);
  };
}

}  // namespace

Result<NodeJob> NodeJob::find() {
  NodeJob job;
  const ProcessFacts facts = own_process_facts();
  const Process* launcher = find_launcher_process(facts.ancestors);
  const Result<Launch> launch = find_launch(own_environment(), facts);
  if (!launch) {
    if (launcher != nullptr) return Error{launch.error()};
    job.launch_.local_size = 1;
    return job;
  }
  // The launcher's process is hidden. Its children can be seen nevertheless.
  if (launcher == nullptr) {
    if (facts.ancestors.empty()) return Error{"/proc does not show this process's parent"};
    launcher = &facts.ancestors.front();
  }
  job.launch_ = *launch;
  job.launcher_ = *launcher;
  for (const NodeRank& rank : find_node_ranks(launcher->pid, launch->job_key)) {
    if (rank.process.pid == getpid()) job.rank_ = rank.rank;
  }
  return job;
}

Result<std::vector<NodeRank>> NodeJob::wait_for_ranks(std::chrono::milliseconds most) const {
  if (!launcher_) return std::vector{this_process()};
  Patience patience(most);
  while (true) {
    std::vector<NodeRank> ranks = find_node_ranks(launcher_->pid, launch_.job_key);
    if (ranks.size() >= launch_.local_size) return ranks;
    if (patience.is_over(ranks.size())) {
      return Error{"of the " + std::to_string(launch_.local_size) + " ranks that " +
                   launch_.launcher + " announces on this node, " + std::to_string(ranks.size()) +
                   " are visible in /proc, and no more appeared within " +
                   std::to_string(most.count() / 1000) + " s"};
    }
    std::this_thread::sleep_for(kBetweenPolls);
  }
}

void NodeJob::wait_for_listeners(std::chrono::milliseconds most) const {
  if (!launcher_) return;
  const Clock::time_point deadline = Clock::now() + most;
  const std::string own = program_of(getpid());
  const auto is_coming = [&](const NodeRank& rank) {
    return rank.process.pid != getpid() && rank.process.name != kListenerName &&
           program_of(rank.process.pid) == own;
  };
  while (Clock::now() < deadline) {
    const std::vector<NodeRank> ranks = find_node_ranks(launcher_->pid, launch_.job_key);
    if (std::none_of(ranks.begin(), ranks.end(), is_coming)) return;
    std::this_thread::sleep_for(kBetweenPolls);
  }
}

void NodeJob::listen(std::chrono::milliseconds most) const {
  Patience patience(most);
  const std::string own = program_of(getpid());
  bool seen = false;
  while (true) {
    const std::vector<NodeRank> ranks = find_node_ranks(launcher_->pid, launch_.job_key);
    if (patience.is_over(ranks.size())) return;
    const auto speaker = std::find_if(ranks.begin(), ranks.end(), [](const NodeRank& rank) {
      return rank.launch.local_rank == 0;
    });
    if (speaker == ranks.end() ? seen : program_of(speaker->process.pid) != own) return;
    if (speaker != ranks.end() && !seen) prctl(PR_SET_NAME, kListenerName);
    seen = seen || speaker != ranks.end();
    std::this_thread::sleep_for(kBetweenPolls);
  }
}

std::optional<CpuSet> NodeJob::grant() const {
  if (!launcher_ || launcher_->user != geteuid() || launcher_->name == "slurmstepd")
    return std::nullopt;
  return launcher_->cpus;
}

std::vector<RankView> view_ranks(const Machine& machine, const std::vector<NodeRank>& ranks,
                                 const std::string& threads, std::vector<std::string>& remarks) {
  std::vector<RankView> views;
  std::vector<RankAhead> ahead;
  for (const NodeRank& rank : ranks) {
    const Environment environment =
        threads.empty() ? rank.environment : with_threads(rank.environment, threads);
    views.push_back(
        {rank.rank, rank.process.cpus, predict_team(machine, rank.process.cpus, environment)});
    ahead.push_back({{rank.process.cpus, views.back().team.num_threads}, environment});
    const std::string& problem = views.back().team.problem;
    if (!problem.empty() && std::find(remarks.begin(), remarks.end(), problem) == remarks.end())
      remarks.push_back(problem);
  }
  const Decision decision = predict_placement(machine, ranks, ahead);
  bool is_number_open = false;
  for (std::size_t i = 0; i < decision.shares.size(); ++i) {
    const std::string number = value_of(ahead[i].environment, "OMP_NUM_THREADS");
    const std::string given = number.empty() ? std::to_string(decision.team_sizes[i]) : number;
    is_number_open |= number.empty();
    views[i].mask = decision.shares[i];
    views[i].team = predict_team(machine, views[i].mask, with_threads(ahead[i].environment, given));
  }
  if (!decision.shares.empty()) {
    remarks.push_back(
        "shown as libomp places the ranks under KMP_BARRIER=hier, out of " + decision.why +
        (is_number_open ? "; without OMP_NUM_THREADS a team has a thread for each cpu of its share"
                        : ""));
  }
  return views;
}

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
    if (std::optional<Process> task = read_process(static_cast<int>(tid), directory))
      tasks.push_back(std::move(*task));
  }
  const auto key = [&](const Process& task) {
    return std::tuple(task.pid != pid, task.start_ticks, task.pid);
  };
  std::sort(tasks.begin(), tasks.end(),
            [&](const Process& a, const Process& b) { return key(a) < key(b); });
  return tasks;
}

void append_threads(int pid, std::optional<std::uint32_t> rank,
                    std::vector<PlacedThread>& threads) {
  std::uint32_t index = 0;
  for (const Process& task : tasks_of(pid))
    threads.push_back({rank, index++, pid, task.pid, task.name, task.cpus});
}

bool is_below(int pid, int ancestor) {
  std::optional<Process> process = read_process(pid);
  while (process && process->parent > 1 && process->parent != ancestor)
    process = read_process(process->parent);
  return process && process->parent == ancestor;
}

}  // namespace

std::vector<PlacedThread> predicted_threads(const std::vector<RankView>& ranks) {
  std::vector<PlacedThread> threads;
  for (const RankView& rank : ranks) {
    for (std::uint32_t i = 0; i < rank.team.num_threads; ++i)
      threads.push_back({rank.rank, i, 0, 0, "", rank.team.cpus[i]});
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
  if (!read_process(launcher_pid))
    return Error{"there is no process " + std::to_string(launcher_pid) + " to be seen"};
  for (const NodeRank& rank : find_node_ranks(launcher_pid))
    append_threads(rank.process.pid, rank.rank, threads);
  if (!threads.empty()) return threads;
  for (const std::uint32_t pid : numbered_entries("/proc")) {
    if (is_below(static_cast<int>(pid), launcher_pid))
      append_threads(static_cast<int>(pid), std::nullopt, threads);
  }
  if (threads.empty())
    return Error{"process " + std::to_string(launcher_pid) + " has no children to be seen"};
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
      ranks.push_back(
          {thread.rank.value_or(static_cast<std::uint32_t>(pid)), CpuSet(), TeamShape()});
      ranks.back().team.num_threads = 0;
    }
    if (thread.name != program) continue;
    RankView& rank = ranks.back();
    rank.mask |= thread.cpus;
    rank.team.cpus.push_back(thread.cpus);
    ++rank.team.num_threads;
  }
  for (RankView& rank : ranks) {
    rank.team.is_bound = std::any_of(rank.team.cpus.begin(), rank.team.cpus.end(),
                                     [&](const CpuSet& cpus) { return cpus != rank.mask; });
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
