// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/others.hpp"
#include "bench/common/statistics.hpp"

// The measurements, and the questions that tables and targets ask of them.
//
//   Measurements  one run
//   Group         a number of participants and a quantity
//   Series        in a group: a configuration or a floor, with the samples of each repetition
//   Block         in a group: a repetition, with the regime before and after it
namespace hierbar::bench {

// What a row of the tables stands for in comparisons.
enum class Family : std::uint8_t {
  kHier,     // this project
  kStock,    // libomp without it: any barrier of our build, the unpatched build, the system's
  kGnu,      // libgomp
  kMpich,    // a library of the MPICH family without this project
  kOpenMpi,  // Open MPI
  kOther,    // another program, or a peer with settings for this benchmark: only shown
  kFloor,    // no runtime at all
};

// The family's name in reports.
[[nodiscard]] const char* family_name(Family family);

struct Series {
  std::string name;
  Family family = Family::kStock;
  std::string failure;  // why there are no samples, or no more of them; else empty
  SamplesByRepetition samples;
  // Of a quantity that contains work: for each sample, the time of its work alone, divided among
  // the cpus. Else empty.
  SamplesByRepetition ideal{};
};

struct Block {
  int repetition = 0;
  std::optional<double> one_way_before_ns;  // nothing if there is only one cpu
  std::optional<double> one_way_after_ns;
  bool kept = true;
  double taken_by_others = 0;  // share of the cpus' time meanwhile
};

struct Group {
  int num_participants = 0;
  std::string participant = "thread";  // what a participant is called
  std::string quantity;                // what is measured
  bool bound = false;                  // each participant is bound to a cpu
  bool oversubscribed = false;         // more participants than cpus
  std::vector<Block> blocks;
  std::vector<Series> series;        // configurations in their order, then floors
  std::optional<double> one_way_ns;  // of the blocks that are kept
  // False: no repetition stayed in one regime, so all are kept.
  bool settled = true;
  // Others used the machine in all repetitions, so all are kept: the least share that they took.
  std::optional<double> disturbed;
};

// One run of a benchmark.
struct Measurements {
  std::vector<Group> groups;
  std::vector<double> one_way_ns;  // all measurements of the one-way time, in order
  int num_regime_changes = 0;      // from one of these measurements to the next
  int num_repeated_blocks = 0;
  int num_repetitions = 0;  // fewer than asked for if the time limit was reached
  double seconds = 0;
  double waited_s = 0;  // of them for a quieter machine
  Disturbance disturbance;
  int stopped_by = 0;   // the signal that ended it early (stop_requests.hpp), or 0
  double stamp_ns = 0;  // a reading of the OMPT tool's clock, where tools are measured
};

// Records a measurement of the one-way time, and whether the regime has changed since the last one,
// `last_ns`.
void record_one_way(Measurements& measurements, std::optional<double> last_ns,
                    std::optional<double> now_ns);

// "2 threads"
[[nodiscard]] std::string participants_text(const Group& group);

// "regime near, one way 42 ns"
[[nodiscard]] std::string regime_text(const Group& group);

// Decides which blocks of a group are kept: those in which others left the machine alone, and that
// began and ended in the regime that most of these share. If none is quiet, all are judged by the
// regime alone, and the group is disturbed. If none stayed in a regime, all are kept and the group
// is not settled. Returns the number of good blocks, which are quiet and began and ended in that
// regime. If there is only one cpu, there is no regime.
int settle(Group& group);

// Why a ratio of this group means nothing, in a word for a cell of a table: "disturbed", "unclear".
// Empty if it counts.
[[nodiscard]] const char* doubt_of(const Group& group, const Ratio& ratio);

// The samples of the kept blocks.
[[nodiscard]] SamplesByRepetition kept_samples(const Group& group, const Series& series);

[[nodiscard]] std::optional<Summary> summary_of(const Group& group, const Series& series);
// Of the kept blocks; nothing if the series has no ideal. The share of a sample that is not its
// ideal is synchronisation: the calls, and waiting for the slowest.
[[nodiscard]] std::optional<Summary> ideal_of(const Group& group, const Series& series);
[[nodiscard]] std::optional<Summary> sync_share_of(const Group& group, const Series& series);
[[nodiscard]] std::optional<Ratio> ratio_of(const Group& group, const Series& numerator,
                                            const Series& denominator);
// In ns.
[[nodiscard]] std::optional<Ratio> difference_of(const Group& group, const Series& from,
                                                 const Series& subtracted);

// The series of that name. Makes it if there is none.
Series& series_of(Group& group, const std::string& name, Family family);

// These return nullptr if no such series has samples.
[[nodiscard]] const Series* find_series(const Group& group, const std::string& name);
[[nodiscard]] const Series* best_of(const Group& group, Family family);

}  // namespace hierbar::bench
