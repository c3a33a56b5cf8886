// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/load.hpp"
#include "common/statistics.hpp"
#include "omp/configuration.hpp"

// What was measured, and the questions that tables and targets ask of it.
//
//   Results -> Group (one team size, one construct) -> Series (one configuration or floor) -> samples of every repetition
//                                                   -> Block (one repetition: the regime before and after it)
namespace hierbar::bench {

struct Series {
  std::string name;
  Family family = Family::kStock;
  std::string failure;  // why there is nothing, or nothing more; empty otherwise
  SamplesByRepetition samples;
};

struct Block {
  int repetition = 0;
  std::optional<double> one_way_before_ns;  // nothing where there is only one cpu
  std::optional<double> one_way_after_ns;
  bool kept = true;
};

struct Group {
  int num_threads = 0;
  std::string construct;
  bool bound = false;           // OMP_PLACES=cores OMP_PROC_BIND=close
  bool oversubscribed = false;  // more threads than cpus
  std::vector<Block> blocks;
  std::vector<Series> series;        // configurations in their order, then floors
  std::optional<double> one_way_ns;  // of the kept blocks
  bool settled = true;               // false: no repetition stayed in one regime, all are kept
};

struct Results {
  std::vector<Configuration> configurations;
  std::vector<Group> groups;
  std::vector<double> one_way_ns;  // every measurement of it, in order of time
  int num_regime_changes = 0;      // from one such measurement to the next
  int num_repeated_blocks = 0;
  int num_repetitions = 0;  // fewer than asked for where the time limit came first
  double seconds = 0;
  Disturbance disturbance;
};

// Decides which blocks of a group count: those that began and ended in the regime that most of them share. Where none did, all
// count and the group is not settled. Returns how many blocks are good: as many as began, ended and agree; all where there is
// only one cpu and so no regime.
int settle(Group& group);

// The samples of the kept blocks.
[[nodiscard]] SamplesByRepetition kept_samples(const Group& group, const Series& series);

[[nodiscard]] std::optional<Summary> summary_of(const Group& group, const Series& series);
[[nodiscard]] std::optional<Ratio> ratio_of(const Group& group, const Series& numerator, const Series& denominator);

// nullptr when there is none; for the second and third, none with samples.
[[nodiscard]] const Group* find_group(const Results& results, int num_threads, const std::string& construct);
[[nodiscard]] const Series* find_series(const Group& group, const std::string& name);
[[nodiscard]] const Series* best_of(const Group& group, Family family);

}  // namespace hierbar::bench
