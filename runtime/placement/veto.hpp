// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "placement/place_setting.hpp"
#include "placement/pool.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Why ranks and threads stay where they are.
enum class VetoReason : std::uint8_t {
  kOff,             // the user switched placement off
  kUserPlaced,      // the user placed the threads, or said that nobody shall
  kForeignPlacer,   // another tool places ranks or threads
  kForkedChild,     // a copy of a process that was placed
  kMaskChanged,     // the program bound itself after it was started
  kThreadsUnknown,  // nobody said how many threads there will be, so they follow from the mask
  kSufficient,      // each rank has a core for every thread, and no other rank has it too
  kNotExclusive,    // other jobs may use the cpus that there are
  kOversubscribed,  // more threads than cpus
};

// The reason as a word for scripts: "off", "user-placed", "foreign-placer", ...
const char* veto_name(VetoReason reason);

struct Veto {
  VetoReason reason;
  std::string text;  // what was found, one line without a full stop
};

// The vetoes, cheapest first. All ranks of a node must come to the same result, so what one rank finds alone (the first two) it
// must tell the others before they act.

// What the environment says. Abstract OMP_PLACES (cores, threads, ...) are no veto: they are laid out inside the share.
std::optional<Veto> veto_by_environment(const PlaceSetting& setting, const Environment& environment);

struct ProcessState {
  CpuSet mask;                            // what the initial thread may run on now
  std::optional<CpuSet> first_mask = {};  // what it was when the process started, if that is known
  bool is_forked_child = false;
  bool has_explicit_threads = false;  // OMP_NUM_THREADS or the like was given, or threads=share makes do without
};
std::optional<Veto> veto_by_process(const ProcessState& state);

// What each rank of a node has and wants.
struct RankNeed {
  CpuSet mask;
  std::uint32_t num_threads = 1;  // 0: one for each cpu of its share (threads=share), until settled_needs()
};

// When nobody lacks anything.
std::optional<Veto> veto_by_need(const Machine& machine, const std::vector<RankNeed>& ranks);

// When the pool is not enough, or may not be this job's, or one rank has it all already.
std::optional<Veto> veto_by_pool(const Pool& pool, const std::vector<RankNeed>& ranks);

}  // namespace hierbar
