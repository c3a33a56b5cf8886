// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/compared_runs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "cli/compare/paired_ratios.hpp"
#include "cli/program/turns.hpp"

namespace hierbar {
namespace {

// A new file without a name, for what a program prints. A pipe would have to be read while the
// program runs, by somebody who takes cpu time from it. -1 if none can be made.
int make_output_file() {
  std::string name = name_in_temporary_directory("hierbar-output-");
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) unlink(name.c_str());
  return file;
}

// What a run has written to a file. Of more than kMostBytes these are its beginning and its end.
struct Printed {
  static constexpr off_t kMostBytes = 4 << 20;

  explicit Printed(const OpenFile& file) {
    struct stat status{};
    if (fstat(file.get(), &status) != 0) return;
    const off_t size = std::min(status.st_size, kMostBytes);
    begin = read(file, 0, size);
    end = size == status.st_size ? begin : read(file, status.st_size - size, size);
  }

  static std::string read(const OpenFile& file, off_t offset, off_t most) {
    std::string text(static_cast<std::size_t>(most), '\0');
    const ssize_t size = pread(file.get(), text.data(), text.size(), offset);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

  std::string begin;
  std::string end;
};

// What all runs read as stdin: this process's from where it stands, if it is a file.
class RepeatedInput {
 public:
  RepeatedInput() {
    struct stat status{};
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode))
      start_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
  }

  // -1 if it cannot be opened.
  int open_again() const {
    if (start_ < 0) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int file = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (file >= 0) lseek(file, start_, SEEK_SET);
    return file;
  }

 private:
  off_t start_ = -1;
};

std::string last_lines(std::string text) {
  constexpr int kNumLines = 5;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (int i = 0; i < kNumLines && begin != std::string::npos && begin > 0; ++i)
    begin = text.rfind('\n', begin - 1);
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

// `hierbar run` sets variables in its own environment; here they are the program's alone.
Inactivity explain(const Way& way, const CountedRun& run) {
  Program command = {"env"};
  for (const auto& [name, value] : way.variables) command.push_back(name + "=" + value);
  command.insert(command.end(), way.command.begin(), way.command.end());
  return explain_inactivity(run, command);
}

class CompareSession {
 public:
  explicit CompareSession(const CompareRequest& request)
      : request_(request), outputs_(request.ways.size(), OutputComparison(ignored_lines())) {
    comparison_.ways.resize(request.ways.size());
    expected_exits_.resize(request.ways.size());
  }

  Result<Comparison> run() {
    const LoadMeter meter;
    if (!run_rounds() && !problem_.empty()) return Error{problem_};
    comparison_.disturbance = meter.since_start();
    comparison_.asked_to_end = runner_.asked_to_end();
    finish();
    return std::move(comparison_);
  }

 private:
  // Leaves complete rounds, and compares outputs.
  void finish();

  // Each returns whether to go on.
  bool run_rounds();
  bool warm_up();
  bool run_way(std::size_t index, std::size_t turn);
  bool judge_end(std::size_t index, const CountedRun& run, const std::string& last);
  bool read_figure(const Printed& output, const Printed& errors, TimedRun& run);
  bool compare_output(std::size_t index, const std::string& output);

  OutputComparison::IsIgnored ignored_lines() const {
    if (!request_.figure) return {};
    return [&figure = *request_.figure](const std::string& line) { return figure.is_in(line); };
  }

  const CompareRequest& request_;
  ProgramRunner runner_;
  const RepeatedInput input_;
  Comparison comparison_;
  std::vector<OutputComparison> outputs_;
  std::vector<std::optional<int>> expected_exits_;  // of bases
  bool exit_varies_ = false;
  std::size_t round_ = 0;
  double seconds_left_ = 0;
  std::string problem_;
};

bool CompareSession::run_rounds() {
  if (!warm_up()) return false;
  const std::size_t num_ways = request_.ways.size();
  const std::size_t first = comparison_.num_rounds();
  double spent = 0;
  for (std::size_t done = first; done < comparison_.num_planned; ++done) {
    round_ = done + 1;
    const std::int64_t start_ns = monotonic_ns();
    for (std::size_t turn = 0; turn < num_ways; ++turn) {
      if (!run_way(in_turns(done, turn, num_ways), turn)) return false;
    }
    spent += 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
    seconds_left_ = spent / static_cast<double>(done + 1 - first) *
                    static_cast<double>(comparison_.num_planned - done - 1);
  }
  return true;
}

bool CompareSession::warm_up() {
  const std::int64_t start_ns = monotonic_ns();
  for (std::size_t way = 0; way < request_.ways.size(); ++way) {
    if (!run_way(way, way)) return false;
  }
  const double seconds = 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
  comparison_.num_planned = request_.num_rounds > 0
                                ? request_.num_rounds
                                : pairs_that_fit(seconds, request_.limit_seconds);
  comparison_.is_warm_up_counted = 3 * seconds > request_.limit_seconds;
  if (!comparison_.is_warm_up_counted) {
    for (WayRuns& way : comparison_.ways) way.runs.clear();
  }
  seconds_left_ = seconds * static_cast<double>(comparison_.num_planned - comparison_.num_rounds());
  return comparison_.is_active;
}

bool CompareSession::run_way(std::size_t index, std::size_t turn) {
  const Way& way = request_.ways[index];
  comparison_.last_way = index;
  if (request_.say) {
    request_.say({.round = round_,
                  .num_rounds = comparison_.num_planned,
                  .way = way,
                  .is_first_of_round = turn == 0,
                  .seconds_left = seconds_left_});
  }
  const OpenFile input(input_.open_again());
  const OpenFile output(make_output_file());
  const OpenFile errors(make_output_file());
  if (input.get() < 0 || output.get() < 0 || errors.get() < 0) {
    problem_ = std::string("cannot open a file for a run: ") + std::strerror(errno);
    return false;
  }
  const Result<CountedRun> run = runner_.run(way.command, {.variables = way.variables,
                                                           .input = input.get(),
                                                           .output = output.get(),
                                                           .errors = errors.get()});
  if (!run) problem_ = run.error();
  if (!run || runner_.asked_to_end() != 0) return false;
  const Printed printed(output);
  const Printed complaints(errors);
  TimedRun timed{.figure = run->wall_seconds,
                 .wall_seconds = run->wall_seconds,
                 .cpu_seconds = run->cpu_seconds};
  const std::string last = last_lines(complaints.end.empty() ? printed.end : complaints.end);
  if (!judge_end(index, *run, last) || !read_figure(printed, complaints, timed)) return false;
  if (!compare_output(index, printed.begin)) return false;
  WayRuns& runs = comparison_.ways[index];
  runs.last = *run;
  runs.runs.push_back(timed);
  runs.inactivity.reset();
  const bool is_served = run->barriers.num_served() > 0;
  if (way.is_ours && !is_served) runs.inactivity = explain(way, *run);
  comparison_.is_active = comparison_.is_active || (way.is_ours && is_served);
  return true;
}

bool CompareSession::judge_end(std::size_t index, const CountedRun& run, const std::string& last) {
  const std::size_t base = request_.ways[index].base;
  std::optional<int>& expected = expected_exits_[base];
  bool is_bad = run.signal != 0;
  if (index == base) {
    is_bad = is_bad || (run.exit_code != 0 && !request_.ignores_failure);
    exit_varies_ = exit_varies_ || (expected && *expected != run.exit_code);
    if (!expected) expected = run.exit_code;
  } else {
    is_bad = is_bad || (run.exit_code != *expected && !exit_varies_);
  }
  if (!is_bad) return true;
  comparison_.failure =
      FailedRun{.way = index, .run = run, .expected = *expected, .last_lines = last};
  return false;
}

bool CompareSession::read_figure(const Printed& output, const Printed& errors, TimedRun& run) {
  if (!request_.figure) return true;
  Result<double> figure = request_.figure->read(output.end);
  if (!figure) {
    // Many programs write what they say about themselves to stderr.
    const Result<double> other = request_.figure->read(errors.end);
    if (other) figure = other;
  }
  if (figure) run.figure = *figure;
  if (!figure) problem_ = figure.error();
  return figure.ok();
}

bool CompareSession::compare_output(std::size_t index, const std::string& output) {
  if (request_.ignores_output) return true;
  const Result<std::string> compared = request_.result ? request_.result->read(output) : output;
  if (!compared) {
    problem_ = compared.error();
    return false;
  }
  if (index != request_.ways[index].base) {
    outputs_[index].add_other(*compared);
    return true;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (request_.ways[i].base == index) outputs_[i].add_as_it_is(*compared);
  }
  return true;
}

void CompareSession::finish() {
  std::size_t num_complete = comparison_.ways.front().runs.size();
  for (const WayRuns& way : comparison_.ways)
    num_complete = std::min(num_complete, way.runs.size());
  for (std::size_t i = 0; i < comparison_.ways.size(); ++i) {
    comparison_.ways[i].runs.resize(num_complete);
    comparison_.ways[i].difference = outputs_[i].result();
  }
}

}  // namespace

Result<Comparison> compare_ways(const CompareRequest& request) {
  return CompareSession(request).run();
}

}  // namespace hierbar
