// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/load_meter.hpp"
#include "base/result.hpp"
#include "cli/compare/output_comparison.hpp"
#include "cli/compare/own_figure.hpp"
#include "cli/doctor/diagnosis.hpp"
#include "cli/program/counted_run.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// The names of the program as it is and of hierbar.
inline constexpr const char* kPlainWay = "as it is";
inline constexpr const char* kHierbarWay = "hierbar";

// One way to run a program: as it is, or with libraries and settings that are put in front.
struct Way {
  std::string name;  // one of these, or that of another runtime
  Program command;
  std::vector<std::pair<std::string, std::string>> variables{};
  bool is_ours = false;         // hierbar serves its barriers
  std::size_t base = 0;         // the way whose output and end this one's are compared with
  std::uint32_t team_size = 0;  // OMP_NUM_THREADS; 0: what the environment says
};

struct CompareProgress {
  std::size_t round = 0;  // from 1; 0: warm-up
  std::size_t num_rounds = 0;
  const Way& way;
  bool is_first_of_round = false;
  double seconds_left = 0;  // in warm-up unknown
};

struct CompareRequest {
  std::vector<Way> ways{};  // each program as it is before the ways of which it is the base
  std::optional<OwnFigure> figure{};    // else the wall-clock time counts
  std::optional<ResultLines> result{};  // else all lines are compared
  std::size_t num_rounds = 0;           // 0: as many as fit into the limit
  double limit_seconds = 0;
  bool ignores_output = false;
  bool ignores_failure = false;  // an exit status other than 0 is accepted
  std::function<void(const CompareProgress&)> say{};
};

struct TimedRun {
  double figure = 0;  // seconds, if it is not the program's own
  double wall_seconds = 0;
  double cpu_seconds = 0;
};

// What was measured of one way.
struct WayRuns {
  std::vector<TimedRun> runs;  // one for each complete round
  CountedRun last;
  std::optional<Inactivity> inactivity;  // why a way of ours has served nothing
  OutputDifference difference;           // from its base
};

// A run that ended as it should not.
struct FailedRun {
  std::size_t way = 0;
  CountedRun run;
  int expected = 0;        // exit status of the base
  std::string last_lines;  // of what it wrote to stderr, else to stdout
};

struct Comparison {
  std::vector<WayRuns> ways;
  std::size_t num_planned = 0;  // rounds
  bool is_warm_up_counted = false;
  std::optional<FailedRun> failure;
  int asked_to_end = 0;      // a signal that ended it early; 0: none
  std::size_t last_way = 0;  // that ran then
  Disturbance disturbance;

  std::size_t num_rounds() const { return ways.front().runs.size(); }
  bool is_active = false;  // a way of ours has served barriers
};

// Runs all ways in rounds, one after the other, each round in the other direction than the one
// before: what changes on the machine meanwhile hits all alike (ABBA). Before, each way runs once
// to warm up. If such a round takes more than a third of the limit, it counts as the first one:
// what a warm-up changes is small beside that.
//
// It ends early when a run fails, when no way of ours serves a barrier in its warm-up, and when
// this process is asked to end.
//
// Of what a program prints the first 4 MiB are compared, and the last 4 MiB searched for its
// figure. Each run gets stdin from where it stands if it is a file, and else /dev/null.
//
// Errors: nothing can be started or read, or the program's own figure or its
// result is not in its output.
Result<Comparison> compare_ways(const CompareRequest& request);

}  // namespace hierbar
