// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/message_program.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

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

}  // namespace hierbar::network
