// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/load.hpp"
#include "common/statistics.hpp"

// What was measured, and the questions that tables and targets ask of it.
//
//   Group (one number of participants, one quantity) -> Series (one configuration or floor) -> samples of every repetition
//                                                    -> Block (one repetition: the regime before and after it)
namespace hierbar::bench {

// What a row of the tables is, for the comparisons.
enum class Family : std::uint8_t {
  kHier,     // ours
  kStock,    // a libomp without it: any pattern of our build, the unpatched build, the system's
  kGnu,      // libgomp
  kMpich,    // a library of the MPICH family without it
  kOpenMpi,  // Open MPI
  kOther,    // another program, or a peer at settings made for this benchmark: shown, never judged by
  kFloor,    // no runtime at all
  kHint,     // the same in a layout that has no line per participant: shown, never judged by
};

// As reports call it.
[[nodiscard]] const char* family_name(Family family);

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
  int num_participants = 0;
  std::string participant = "thread";  // what one is called
  std::string quantity;                // what is measured of them
  bool bound = false;                  // each to a cpu
  bool oversubscribed = false;         // more participants than cpus
  std::vector<Block> blocks;
  std::vector<Series> series;        // configurations in their order, then floors
  std::optional<double> one_way_ns;  // of the kept blocks
  bool settled = true;               // false: no repetition stayed in one regime, all are kept
};

// One run of a benchmark.
struct Measurements {
  std::vector<Group> groups;
  std::vector<double> one_way_ns;  // every measurement of it, in order of time
  int num_regime_changes = 0;      // from one such measurement to the next
  int num_repeated_blocks = 0;
  int num_repetitions = 0;  // fewer than asked for where the time limit came first
  double seconds = 0;
  Disturbance disturbance;
};

// Notes a measurement of the one-way time, and whether the regime has changed since the one before, `last_ns`.
void note_one_way(Measurements& measurements, std::optional<double> last_ns, std::optional<double> now_ns);

// "2 threads"
[[nodiscard]] std::string participants_text(const Group& group);

// "regime near, one way 42 ns"
[[nodiscard]] std::string regime_text(const Group& group);

// Decides which blocks of a group count: those that began and ended in the regime that most of them share. Where none did, all
// count and the group is not settled. Returns how many blocks are good: as many as began, ended and agree; all where there is
// only one cpu and so no regime.
int settle(Group& group);

// The samples of the kept blocks.
[[nodiscard]] SamplesByRepetition kept_samples(const Group& group, const Series& series);

[[nodiscard]] std::optional<Summary> summary_of(const Group& group, const Series& series);
[[nodiscard]] std::optional<Ratio> ratio_of(const Group& group, const Series& numerator, const Series& denominator);
[[nodiscard]] std::optional<Ratio> difference_of(const Group& group, const Series& from, const Series& subtracted);  // ns

// The series of that name, made when there is none yet.
Series& series_of(Group& group, const std::string& name, Family family);

// nullptr when there is none with samples.
[[nodiscard]] const Series* find_series(const Group& group, const std::string& name);
[[nodiscard]] const Series* best_of(const Group& group, Family family);

}  // namespace hierbar::bench
