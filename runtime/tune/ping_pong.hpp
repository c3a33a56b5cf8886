// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "tune/quartiles.hpp"

namespace hierbar {

// ns that a line takes one way between two cpus, by one word that two threads write in turn and poll without a pause. Quartiles
// over batches of some 100 us, so that a batch in which a thread lost its cpu does not count.
struct OneWay {
  Quartiles store;  // the reader polls with loads, then stores: a copy is fetched, then the peer's copy is taken away
  Quartiles cas;    // both poll with compare-and-swap, as published core-to-core latencies do: one exclusive transfer
};

// Takes about 20 ms on an idle machine. The calling thread is one of the two. Throws std::system_error if there can be no other.
OneWay measure_one_way(std::uint32_t cpu, std::uint32_t other_cpu);

}  // namespace hierbar
