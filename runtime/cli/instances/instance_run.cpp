// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/instance_run.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "cli/instances/labelled_output.hpp"

namespace hierbar {
namespace {

constexpr std::int64_t kNever_ns = std::numeric_limits<std::int64_t>::max();
constexpr int kStreams[] = {STDOUT_FILENO, STDERR_FILENO};

// SIGPIPE has no effect on this process while it lives.
class IgnoredSigpipe {
 public:
  IgnoredSigpipe() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before_);
  }
  ~IgnoredSigpipe() { sigaction(SIGPIPE, &before_, nullptr); }
  IgnoredSigpipe(const IgnoredSigpipe&) = delete;
  IgnoredSigpipe& operator=(const IgnoredSigpipe&) = delete;

  const struct sigaction& before() const { return before_; }

 private:
  struct sigaction before_{};
};

// One instance from its start on.
struct RunningInstance {
  pid_t pid = 0;
  bool has_ended = false;  // its first process
  bool is_gone = false;    // the whole group
  std::int64_t kill_at_ns = kNever_ns;
  std::array<std::unique_ptr<OpenFile>, 2> pipes;  // null: nothing more comes
  std::array<LabelledLines, 2> lines;
};

class InstanceSupervisor {
 public:
  explicit InstanceSupervisor(const InstancesRequest& request) : request_(request) {
    // Orphans of instances come to this process, so that it learns of their ends.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~InstanceSupervisor() { prctl(PR_SET_CHILD_SUBREAPER, 0); }
  InstanceSupervisor(const InstanceSupervisor&) = delete;
  InstanceSupervisor& operator=(const InstanceSupervisor&) = delete;

  Result<InstancesRun> run() {
    if (signal_file_.get() < 0) return Error{std::string("signalfd: ") + std::strerror(errno)};
    if (!keeper_.problem().empty()) return Error{keeper_.problem()};
    std::string problem = start_all();
    if (!problem.empty()) end_all(SIGKILL);
    while (!is_over()) wait();
    if (!problem.empty()) return Error{std::move(problem)};
    return std::move(run_);
  }

 private:
  // Returns why there is not even an attempt to start one of them; empty if there is.
  std::string start_all();
  void wait();
  bool are_all_gone() const;
  bool is_over() const { return output_.empty() && are_all_gone(); }

  void take_signals();
  void ask_to_end(int signal);
  void stop_and_go_on() const;
  void reap();
  void note_end(RunningInstance& one, int status);
  void end_group(RunningInstance& one, int signal);
  void end_all(int signal);
  void kill_overdue();
  void leave(RunningInstance& one);

  // Returns false if there is nothing more to read.
  bool read_pipe(RunningInstance& one, std::size_t stream);
  void close_pipe(RunningInstance& one, std::size_t stream);
  void write_some();

  void say(const std::string& text) { output_.push(STDERR_FILENO, "hierbar run: " + text + '\n'); }
  int next_timeout_ms() const;

  const InstancesRequest& request_;
  const TakenSignals signals_{SIGTSTP};
  const IgnoredSigpipe sigpipe_;
  const OpenFile signal_file_{signalfd(-1, &signals_.set(), SFD_CLOEXEC | SFD_NONBLOCK)};
  const GroupKeeper keeper_;
  std::vector<RunningInstance> running_;
  OutputQueue output_;
  InstancesRun run_;
  bool is_ending_ = false;
};

std::string InstanceSupervisor::start_all() {
  for (std::size_t i = 0; i < request_.instances.size(); ++i) {
    Result<InstanceFiles> files = open_instance_files(request_, i);
    if (!files) return files.error();
    const LabelledLines lines("[" + std::to_string(i) + "] ");
    running_.push_back({.pipes = std::move(files->pipes), .lines = {lines, lines}});
    const Result<StartedInstance> started =
        start_instance(request_, i, *files, signals_, sigpipe_.before());
    if (!started) {
      running_.pop_back();
      return started.error();
    }
    running_.back().pid = started->pid;
    run_.ends.emplace_back();
    keeper_.add(started->pid);
    if (!started->is_running) return "";  // its end is the first failure
  }
  return "";
}

bool InstanceSupervisor::are_all_gone() const {
  return std::all_of(running_.begin(), running_.end(),
                     [](const RunningInstance& one) { return one.is_gone; });
}

int InstanceSupervisor::next_timeout_ms() const {
  std::int64_t next_ns = kNever_ns;
  for (const RunningInstance& one : running_) {
    if (!one.is_gone) next_ns = std::min(next_ns, one.kill_at_ns);
  }
  if (next_ns == kNever_ns) return -1;
  return static_cast<int>(std::max<std::int64_t>(next_ns - monotonic_ns(), 0) / 1'000'000 + 1);
}

void InstanceSupervisor::wait() {
  // The place of each pipe in `files`, which is not polled while the queue is full.
  struct Place {
    RunningInstance& one;
    std::size_t stream;
  };
  std::vector<pollfd> files = {{signal_file_.get(), POLLIN, 0}, {output_.file(), POLLOUT, 0}};
  std::vector<Place> places;
  for (RunningInstance& one : running_) {
    for (std::size_t stream = 0; stream < 2 && !output_.is_full(); ++stream) {
      if (one.pipes[stream] == nullptr) continue;
      files.push_back({one.pipes[stream]->get(), POLLIN, 0});
      places.push_back({one, stream});
    }
  }
  if (poll(files.data(), files.size(), next_timeout_ms()) < 0) return;  // EINTR
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [one, stream] = places[i];
    if (files[i + 2].revents != 0 && !read_pipe(one, stream)) close_pipe(one, stream);
  }
  if (files[1].revents != 0) write_some();  // which may close pipes
  if (files[0].revents != 0) take_signals();
  kill_overdue();
}

// --- signals and ends

void InstanceSupervisor::take_signals() {
  signalfd_siginfo info;
  while (read(signal_file_.get(), &info, sizeof info) == sizeof info) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (signal == SIGTSTP) {
      stop_and_go_on();
    } else if (asks_to_end(signal)) {
      ask_to_end(signal);
    } else {
      for (const RunningInstance& one : running_) {
        if (!one.is_gone) kill(-one.pid, signal);
      }
    }
  }
  reap();
}

void InstanceSupervisor::ask_to_end(int signal) {
  // Nobody waits for a reader that does not read, at the end or when asked again.
  if (is_ending_ || are_all_gone()) {
    for (const int file : kStreams) output_.drop(file);
  }
  end_all(is_ending_ ? SIGKILL : signal);
}

// The terminal stops its foreground group, to which instances do not belong.
void InstanceSupervisor::stop_and_go_on() const {
  for (const RunningInstance& one : running_) {
    if (!one.is_gone) kill(-one.pid, SIGTSTP);
  }
  raise(SIGSTOP);
  for (const RunningInstance& one : running_) {
    if (!one.is_gone) kill(-one.pid, SIGCONT);
  }
}

void InstanceSupervisor::reap() {
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto one = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& running) { return running.pid == ended; });
    if (one != running_.end() && !one->has_ended) note_end(*one, status);
  }
  for (RunningInstance& one : running_) {
    // The number of a group stays in use as long as somebody is in it.
    if (one.has_ended && !one.is_gone && kill(-one.pid, 0) != 0 && errno == ESRCH) leave(one);
  }
}

void InstanceSupervisor::note_end(RunningInstance& one, int status) {
  const std::size_t index = static_cast<std::size_t>(&one - running_.data());
  one.has_ended = true;
  InstanceEnd& end = run_.ends[index];
  end.exit_code = exit_code_of(status);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_group(one, SIGTERM);
  if (end.exit_code == 0 || run_.exit_code != 0) return;
  run_.exit_code = end.exit_code;
  if (is_ending_) return;
  std::string text = "instance " + std::to_string(index) + " failed: ";
  text += end.signal != 0
              ? "signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")"
              : "exit status " + std::to_string(end.exit_code);
  if (request_.instances.size() > 1) text += "; the others are ended";
  if (!request_.output_directory.empty())
    text += "; see " + instance_file(request_.output_directory, index, "err");
  say(text);
  end_all(SIGTERM);
}

void InstanceSupervisor::end_group(RunningInstance& one, int signal) {
  if (one.is_gone) return;
  kill(-one.pid, signal);
  kill(-one.pid, SIGCONT);  // a stopped process takes no other signal
  const std::int64_t grace_ns = signal == SIGKILL ? 0 : kGrace_ns;
  one.kill_at_ns = std::min(one.kill_at_ns, monotonic_ns() + grace_ns);
}

void InstanceSupervisor::end_all(int signal) {
  is_ending_ = true;
  for (RunningInstance& one : running_) end_group(one, signal);
}

void InstanceSupervisor::kill_overdue() {
  for (RunningInstance& one : running_) {
    if (one.is_gone || monotonic_ns() < one.kill_at_ns) continue;
    kill(-one.pid, SIGKILL);
    one.kill_at_ns = kNever_ns;
    // Nothing tells the end of what is left, if its parent is in another group.
    if (one.has_ended) leave(one);
  }
}

// Nothing is left of the instance but what it has written.
void InstanceSupervisor::leave(RunningInstance& one) {
  one.is_gone = true;
  keeper_.remove(one.pid);
  for (std::size_t stream = 0; stream < 2; ++stream) {
    while (one.pipes[stream] != nullptr && read_pipe(one, stream)) {
    }
    close_pipe(one, stream);
  }
}

// --- output

bool InstanceSupervisor::read_pipe(RunningInstance& one, std::size_t stream) {
  std::array<char, 1 << 16> text;
  const ssize_t size = read(one.pipes[stream]->get(), text.data(), text.size());
  if (size < 0 && errno == EINTR) return true;
  // Empty, but somebody may still write: only after the end of all that could, it is over.
  if (size < 0 && errno == EAGAIN) return !one.is_gone;
  if (size <= 0) return false;
  output_.push(kStreams[stream],
               one.lines[stream].take({text.data(), static_cast<std::size_t>(size)}));
  return true;
}

void InstanceSupervisor::close_pipe(RunningInstance& one, std::size_t stream) {
  output_.push(kStreams[stream], one.lines[stream].finish());
  one.pipes[stream].reset();
}

void InstanceSupervisor::write_some() {
  const int file = output_.file();
  const int error = output_.write_some();
  if (error == 0) return;
  for (RunningInstance& one : running_) {
    for (std::size_t stream = 0; stream < 2; ++stream) {
      if (kStreams[stream] == file) close_pipe(one, stream);
    }
  }
  output_.drop(file);
  if (error != EPIPE && file != STDERR_FILENO)
    say(std::string("cannot write to stdout: ") + std::strerror(error));
}

}  // namespace

Result<InstancesRun> run_instances(const InstancesRequest& request) {
  return InstanceSupervisor(request).run();
}

}  // namespace hierbar
