// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/result.hpp"

namespace hierbar::network {

// The LogGP model of one network. Times are in microseconds.
//
// Sources: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP", SPAA 1995; the overhead is split as in
// Kielmann, Bal, Verstoep, "Fast measurement of LogP parameters", 2000.
struct Parameters {
  // From the moment at which the sender's cpu is free again until the message can be received. It
  // contains neither overhead: L = RTT / 2 - o_s - o_r. Netgauge's L contains both.
  double latency_us = 0;           // L
  double send_overhead_us = 0;     // o_s: the sender's cpu is busy
  double receive_overhead_us = 0;  // o_r: the receiver's cpu is busy
  double gap_us = 0;           // g: the least time between two sends, or two receives, of a process
  double gap_per_byte_us = 0;  // G: messages of a barrier are empty, so it never counts here

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

// Where nothing was measured: Ethernet with TCP, roughly.
inline constexpr Parameters kAssumedParameters{18, 3, 4, 1, 0};

inline constexpr double kMostParameter_us = 1e9;
inline constexpr const char* kAllowedParameters =
    "L=US,o_s=US,o_r=US,g=US[,G=US], each from 0 to 1e9 microseconds";

// Reads "L=125.6,o_s=0.43,o_r=123.8,g=0.22". The names are case-sensitive: g and G differ.
// Errors: a name is unknown, missing or there twice; a value is no number in the range.
Result<Parameters> parse_parameters(const std::string& text);

// "L 125.6, o_s 0.43, o_r 123.8, g 0.22 us, G 0 us/byte"
std::string describe(const Parameters& parameters);

// Whether every value is a number from 0 to kMostParameter_us.
bool is_valid(const Parameters& parameters);

}  // namespace hierbar::network
