// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

// The physical floors: what the machine charges for the least that any barrier must do, measured with plain threads and nothing
// else. A barrier is judged by its distance from them, because on a virtual machine they move.
//
//   one-way         one line passed back and forth between two cpus; half of a round trip
//   exchange-mov    every participant writes the epoch into its own line with a plain store, then polls all the others' lines
//   exchange-xchg   the same, arriving with an atomic exchange, as a barrier must whose members may sleep
//   packed-mov      as exchange-mov and exchange-xchg, but the words of all participants, 8 at most, share one line: whoever
//   takes packed-xchg     it to write sees the others' words at once. No floor of a barrier with a line per participant, but a
//   hint. exchange-yield  as exchange-mov, and whoever finds a line not yet written yields its cpu at once: for more participants
//   than cpus
//
// All but the last poll, with a pause instruction in the loop ("...-pause") and without, since either may be faster; the floor is
// the better one.
namespace hierbar::bench {

// ns per passage or per episode, one sample per timed batch, by the floor's name.
using FloorSamples = std::map<std::string, std::vector<double>>;

// Between two pinned threads.
[[nodiscard]] FloorSamples measure_one_way(int cpu, int other_cpu, std::chrono::nanoseconds budget);

// Exchanges among cpus.size() threads, at least two, each pinned to its own entry.
[[nodiscard]] FloorSamples measure_exchange(const std::vector<int>& cpus, std::chrono::nanoseconds budget);

// The yield exchange among num_participants threads, at least two. Pinned in turn to the entries of `cpus`; left to the kernel
// when that is empty, as the teams of an OpenMP runtime are that has been told nothing.
[[nodiscard]] FloorSamples measure_yield_exchange(int num_participants, const std::vector<int>& cpus,
                                                  std::chrono::nanoseconds budget);

}  // namespace hierbar::bench
