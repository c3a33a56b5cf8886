// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/network_profile.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

// One thing that a process does.
struct Step {
  enum class Do : std::uint8_t { kSend, kReceive, kDelay, kStamp };
  Do what = Do::kStamp;
  std::vector<std::uint32_t> peers;  // kSend: one; kReceive: a message from each, as they come
  std::uint32_t num_bytes = 0;       // kSend
  double delay_us = 0;               // kDelay: the cpu is busy for so long
};
using Program = std::vector<Step>;

// One measurement between two processes. Each derives its program from it, so a simulated and a
// real process do the same. The client's program has two stamps; the time between them is the
// result.
struct Experiment {
  enum class What : std::uint8_t {
    // PRTT(n, d, s): the client sends n messages of s bytes with pauses of d between them; the
    // server answers the last one with as many bytes.
    kRoundTrip,
    // The client's time in a receive whose message came long ago: it has waited for d meanwhile. A
    // receive that waits would measure the latency.
    kLateReceive,
  };
  What what = What::kRoundTrip;
  std::uint32_t num_messages = 1;  // n
  double delay_us = 0;             // d
  std::uint32_t num_bytes = 0;     // s
};

enum class Side : std::uint8_t { kClient, kServer };
Program program_of(const Experiment& experiment, Side side, std::uint32_t peer);

// Where experiments are run: on a network, or on a simulated one.
class ExperimentRunner {
 public:
  virtual ~ExperimentRunner() = default;
  // The client's time in microseconds.
  virtual double run_us(const Experiment& experiment) = 0;
};

// What was found out about one pair, and what was clamped on the way.
struct PairMeasurement {
  Parameters parameters;
  std::vector<std::string> notes;
};

// Measures a pair with the method of T. Hoefler, A. Lichei and W. Rehm, "Low-Overhead LogGP
// Parameter Assessment for Modern Interconnection Networks", 2007, without clocks of two processes:
//
//   o_s     (PRTT(n, d, 0) - PRTT(1, 0, 0)) / (n - 1) - d, with a d above every gap and overhead
//   o_r     of a late receive
//   g, G    the line through (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1) = g + G s, for sizes s at
//           which the network, and not an overhead, sets the pace
//   L       PRTT(1, 0, 0) / 2 - o_s - o_r. That paper's L contains the overheads; o_s and o_r would
//           count twice then
//
// Each experiment is repeated and its median taken. The first ones do not count, because in them
// the library connects the processes. What comes out below 0 is clamped, with a note.
//
// Limit: if no size lets the network set the pace, g is the larger overhead, with a note: as far as
// barriers are concerned this is the same.
PairMeasurement measure_pair(ExperimentRunner& runner, std::uint32_t num_repetitions);

using NodePair = std::pair<std::uint32_t, std::uint32_t>;  // the first is the smaller one

// The pairs of which round trips are measured: all, if there are at most `most` of them; otherwise
// pairs at distances 1, 2, 4, ... in turn, so that every part of the machine is among them.
std::vector<NodePair> sample_pairs(std::uint32_t num_nodes, std::uint32_t most);

// Pairs that are equally far from each other.
struct Grouping {
  std::vector<std::string> names;      // of the classes, the nearest first
  std::vector<std::uint32_t> classes;  // of each pair
};

// Where a node is, as Slurm says: SLURM_TOPOLOGY_ADDR "s0.s4.node17" and its pattern
// "switch.switch.node". Both empty without Slurm.
struct NodeAddress {
  std::string address;
  std::string pattern;
};

// The classes of pairs. If the addresses have switches, by the switch that the two have in common:
// "same switch", "1 switch up", ..., "no common switch". Otherwise by round trips: where one is
// kClearlyFarther times the next shorter one, a class begins; they are called after their median.
// At most kMostPairClasses.
inline constexpr double kClearlyFarther = 1.5;
inline constexpr std::uint32_t kMostPairClasses = 6;
Grouping group_pairs(const std::vector<NodePair>& pairs, const std::vector<double>& round_trips_us,
                     const std::vector<NodeAddress>& addresses);

// The quartiles of a class. Requires that there is a measurement.
PairClass summarize(const std::string& name, std::uint32_t num_pairs,
                    const std::vector<Parameters>& measurements);

}  // namespace hierbar::network
