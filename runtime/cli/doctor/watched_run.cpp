// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/watched_run.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "cli/placement/job.hpp"
#include "cli/program/program.hpp"
#include "placement/evidence/process.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
// From SIGTERM to SIGKILL.
constexpr auto kPatience = std::chrono::seconds(2);

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = name_in_temporary_directory("hierbar-doctor-");
    if (mkdtemp(name.data()) == nullptr)
      problem_ = "cannot make " + name + ": " + std::strerror(errno);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (problem_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const fs::path& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  fs::path path_;
  std::string problem_;
};

// One process's record: lines "  <pid>:\tcalling init: <path>" and "initialize program: <path>". A
// process that executes another program goes on in the same file, and a forked one begins with no
// program.
void read_record(const fs::path& path, std::vector<WatchedRun::Process>& processes) {
  constexpr std::string_view kLibrary = "calling init: ";
  constexpr std::string_view kProgram = "initialize program: ";
  std::ifstream file(path);
  WatchedRun::Process process;
  const auto keep = [&] {
    if (!process.libraries.empty()) processes.push_back(std::move(process));
    process = {};
  };
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t at = line.find(kProgram); at != std::string::npos) {
      process.program = line.substr(at + kProgram.size());
    } else if (const std::size_t init = line.find(kLibrary); init != std::string::npos) {
      const std::string library = line.substr(init + kLibrary.size());
      // The loader comes first in each program.
      if (fs::path(library).filename().string().starts_with("ld-") && !process.program.empty())
        keep();
      process.libraries.push_back(library);
    }
  }
  keep();
}

pid_t start(const Program& command, const fs::path& record) {
  const pid_t child = fork();
  if (child > 0) setpgid(child, child);  // whichever of the two comes first
  if (child != 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // ^C reaches this command's process group only
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setenv("LD_DEBUG", "libs", 1);
  setenv("LD_DEBUG_OUTPUT", record.c_str(), 1);
  _exit(become(command));
}

std::size_t count_threads(const std::vector<RankView>& ranks) {
  std::size_t threads = 0;
  for (const RankView& rank : ranks) threads += rank.team.num_threads;
  return threads;
}

// Leaves out processes below which another one has a team. They mostly wait for it, with threads
// that sleep on the same cpus. Returns false if a process with a team has ended since its threads
// were read: nobody can be asked then who waited for it.
bool leave_out_waiting(std::vector<PlacedThread>& threads) {
  std::map<int, int> team_sizes;
  for (const PlacedThread& thread : threads) ++team_sizes[thread.pid];
  std::set<int> waiting;
  for (const auto& [pid, size] : team_sizes) {
    if (size == 1) continue;
    auto process = read_process(pid);
    if (!process) return false;
    for (; process && process->parent > 1; process = read_process(process->parent))
      waiting.insert(process->parent);
  }
  std::erase_if(threads, [&](const PlacedThread& thread) {
    return !thread.rank && waiting.contains(thread.pid);
  });
  return true;
}

// Threads of the child and of what it started, if there are more of them than were seen before.
void look_at_threads(pid_t child, WatchedRun& run) {
  std::vector<PlacedThread> threads;
  for (const auto& some : {threads_of_process(child), threads_of_job(child)}) {
    if (some) threads.insert(threads.end(), some->begin(), some->end());
  }
  if (!leave_out_waiting(threads)) return;
  std::vector<RankView> ranks = ranks_of_threads(threads);
  if (count_threads(ranks) > count_threads(run.ranks)) run.ranks = std::move(ranks);
}

// Returns whether the child has ended within the time.
bool wait_for_end(pid_t child, Clock::duration most, int& status, WatchedRun* run) {
  const Clock::time_point deadline = Clock::now() + most;
  do {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    if (run != nullptr) look_at_threads(child, *run);
    std::this_thread::sleep_for(kBetweenLooks);
  } while (Clock::now() < deadline);
  return false;
}

void stop(pid_t child, int& status) {
  kill(-child, SIGTERM);
  if (wait_for_end(child, kPatience, status, nullptr)) return;
  kill(-child, SIGKILL);
  waitpid(child, &status, 0);
}

}  // namespace

Result<WatchedRun> watch_run(const Program& command, std::chrono::milliseconds most) {
  const TemporaryDirectory directory;
  if (!directory.problem().empty()) return Error{directory.problem()};
  const pid_t child = start(command, directory.path() / "loads");
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  WatchedRun run;
  int status = 0;
  run.was_stopped = !wait_for_end(child, most, status, &run);
  if (run.was_stopped) stop(child, status);
  run.exit_code = exit_code_of(status);
  std::vector<fs::path> records;
  for (const auto& entry : fs::directory_iterator(directory.path()))
    records.push_back(entry.path());
  std::sort(records.begin(), records.end());
  for (const fs::path& record : records) read_record(record, run.processes);
  return run;
}

}  // namespace hierbar
