// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "tune/quartiles.hpp"

namespace hierbar {

// ns that a line takes one way between two cpus, by one word that two threads write in turn. Quartiles over batches of some
// 100 us, so that a batch in which a thread lost its cpu does not count.
struct OneWay {
  Quartiles store;   // the reader polls with loads and no pause, then stores: it fetches a copy, then takes the peer's copy away
  Quartiles paused;  // the same with as many pauses between two looks as a waiting barrier has
  Quartiles cas;     // both poll with compare-and-swap, as published core-to-core latencies do: one exclusive transfer

  // By stores, whichever way of polling disturbs the writer less. On an EPYC (Zen 5, pause 26 ns): near, 48 ns without pauses and
  // 27 with; far, 209 and more.
  double best_ns() const { return std::min(store.median, paused.median); }
};

// Takes about 30 ms on an idle machine. The calling thread is one of the two. Throws std::system_error if there can be no other.
OneWay measure_one_way(std::uint32_t cpu, std::uint32_t other_cpu);

}  // namespace hierbar
