// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/counted_run.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "base/clock.hpp"
#include "base/served_file.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

void add(ServedBarriers::Count& sum, const ServedBarriers::Count& count) {
  sum.num_processes += count.num_processes;
  sum.num_served += count.num_served;
  sum.num_others += count.num_others;
}

std::string describe_barriers(const ServedBarriers::Count& count, const char* kind,
                              const char* library) {
  return std::string(kind) + ": " + plural(count.num_served, "barrier") + " served in " +
         std::to_string(count.num_processes) +
         (count.num_processes == 1 ? " process, " : " processes, ") +
         std::to_string(count.num_others) + " left to the " + library;
}

// Of the calls with data; empty where there were none.
std::string describe_data(const ServedBarriers& barriers) {
  std::string text;
  for (std::size_t i = 0; i < barriers.mpi_data.size(); ++i) {
    const ServedBarriers::Count& count = barriers.mpi_data[i];
    if (count.num_served + count.num_others == 0) continue;
    text += "; " + plural(count.num_served, kDataCallsOfMpi[i].name) + " served, " +
            std::to_string(count.num_others) + " left to the library";
  }
  return text;
}

// The count to which a line of this kind adds.
ServedBarriers::Count& count_of(ServedBarriers& barriers, const std::string& kind) {
  for (std::size_t i = 0; i < barriers.mpi_data.size(); ++i) {
    if (kind == kDataCallsOfMpi[i].kind) return barriers.mpi_data[i];
  }
  return kind == kMoreOfMpi || kind == "mpi" ? barriers.mpi : barriers.openmp;
}

}  // namespace

std::string describe_served(const ServedBarriers& barriers) {
  const auto& [openmp, mpi, mpi_data, other_runtime] = barriers;
  std::string text;
  if (openmp.num_processes > 0) text = describe_barriers(openmp, "OpenMP", "runtime's own");
  if (mpi.num_processes > 0)
    text += (text.empty() ? "" : "; ") + describe_barriers(mpi, "MPI", "library");
  return text + describe_data(barriers);
}

ServedBarriers& ServedBarriers::operator+=(const ServedBarriers& other) {
  add(openmp, other.openmp);
  add(mpi, other.mpi);
  for (std::size_t i = 0; i < mpi_data.size(); ++i) add(mpi_data[i], other.mpi_data[i]);
  if (other_runtime.empty()) other_runtime = other.other_runtime;
  return *this;
}

ServedBarriersFile::ServedBarriersFile() {
  path_ = name_in_temporary_directory("hierbar-served-");
  const int file = mkstemp(path_.data());
  if (file < 0) problem_ = "cannot make " + path_ + ": " + std::strerror(errno);
  if (file >= 0) close(file);
}

ServedBarriersFile::~ServedBarriersFile() {
  if (problem_.empty()) unlink(path_.c_str());
}

ServedBarriers ServedBarriersFile::read() const {
  ServedBarriers barriers;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == kOtherRuntimeLine) {
      std::getline(words >> std::ws, barriers.other_runtime);
      continue;
    }
    const bool is_more = kind == kMoreOfMpi;
    ServedBarriers::Count& count = count_of(barriers, kind);
    std::uint64_t served = 0;
    std::uint64_t others = 0;
    if (!(words >> served >> others)) continue;
    if (!is_more) ++count.num_processes;
    count.num_served += served;
    count.num_others += others;
  }
  return barriers;
}

void ProgramRunner::note(int signal) {
  if (asks_to_end(signal) && asked_to_end_ == 0) asked_to_end_ = signal;
}

int ProgramRunner::asked_to_end() {
  constexpr timespec kNoTime{};
  for (int signal = 0; (signal = sigtimedwait(&signals_.set(), nullptr, &kNoTime)) > 0;)
    note(signal);
  return asked_to_end_;
}

// The child's status; what arrives meanwhile is passed on to it. A terminal sends ^C to the child
// too, so what the kernel sends is not repeated.
Result<int> ProgramRunner::wait_for(pid_t child, double& cpu_seconds) {
  int status = 0;
  rusage usage{};
  for (pid_t ended = 0; (ended = wait4(child, &status, WNOHANG, &usage)) != child;) {
    if (ended < 0)
      return Error{std::string("cannot wait for the program: ") + std::strerror(errno)};
    siginfo_t info;
    const int signal = sigwaitinfo(&signals_.set(), &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    note(signal);
    if (info.si_code <= 0) kill(child, signal);
  }
  cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return status;
}

Result<CountedRun> ProgramRunner::run(const Program& program, const ChildSetting& setting) {
  const ServedBarriersFile file;
  if (!file.problem().empty()) return Error{file.problem()};
  std::cout.flush();  // else the child has what is in its buffer, too
  const std::int64_t start_ns = monotonic_ns();
  const pid_t child = fork();
  if (child < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    signals_.give_back();
    setenv(kServedFileVariable, file.path().c_str(), 1);
    _exit(become_with(program, setting));
  }
  CountedRun run;
  const Result<int> status = wait_for(child, run.cpu_seconds);
  if (!status) return Error{status.error()};
  run.wall_seconds = 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
  run.exit_code = exit_code_of(*status);
  run.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  run.barriers = file.read();
  return run;
}

}  // namespace hierbar
