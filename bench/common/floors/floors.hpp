// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

// The physical floors: what the machine takes for the least that any barrier must do. They are
// measured with plain threads and nothing else. A barrier is judged by its distance from them,
// because on a virtual machine they change.
//
//   one-way         one line is passed back and forth between two cpus; half of a round trip
//   exchange-mov    each participant writes the epoch into its own line with a plain store, then
//                   polls the lines of all others
//   exchange-xchg   the same, but a participant arrives with an atomic exchange, as it must in a
//                   barrier whose participants may sleep
//   packed-mov,     as exchange-mov and exchange-xchg, but the words of all participants (8 at
//   packed-xchg     most) share one line, so that whoever fetches it for writing gets all words
//   pool            participant 0 hands a function and its arguments to each of the others, in the
//                   line of the flag by which it wakes them; all run it; the others report that
//                   they have. What the least parallel region must do
//   exchange-yield  as exchange-mov, but a participant that finds a line unwritten yields its cpu
//                   at once; for more participants than cpus
//
// All but exchange-yield are measured with a pause instruction in the polling loop ("...-pause")
// and without, the stores also with two ("...-2pauses"), because each may be the fastest. The floor
// of a run is the fastest of all, and goes by its name.
namespace hierbar::bench {

// Samples by the floor's name: ns for a passage or an episode, one sample for each timed batch.
using FloorSamples = std::map<std::string, std::vector<double>>;

// Measures between two pinned threads.
[[nodiscard]] FloorSamples measure_one_way(int cpu, int other_cpu, std::chrono::nanoseconds budget);

// Measures exchanges among cpus.size() threads, two at least. Each is pinned to its own entry.
[[nodiscard]] FloorSamples measure_exchange(const std::vector<int>& cpus,
                                            std::chrono::nanoseconds budget);

// Measures the pool of cpus.size() threads, two at least. Each is pinned to its own entry.
[[nodiscard]] FloorSamples measure_pool(const std::vector<int>& cpus,
                                        std::chrono::nanoseconds budget);

// Measures the exchange with yields among num_participants threads, two at least. They are pinned
// in turn to the entries of `cpus`. If that is empty they are not pinned, just as the team of an
// OpenMP runtime without settings.
[[nodiscard]] FloorSamples measure_yield_exchange(int num_participants,
                                                  const std::vector<int>& cpus,
                                                  std::chrono::nanoseconds budget);

}  // namespace hierbar::bench
