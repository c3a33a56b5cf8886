// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/variables.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/place_setting.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Why ranks and threads stay where they are.
enum class VetoReason : std::uint8_t {
  // The user has switched placement off.
  kOff,
  // The user has placed the threads, or has said that nobody shall.
  kUserPlaced,
  // Another tool places ranks or threads.
  kForeignPlacer,
  // This process is a copy of one that was placed.
  kForkedChild,
  // The program bound itself after it was started.
  kMaskChanged,
  // No number of threads was given, so it follows from the mask.
  kThreadsUnknown,
  // Each rank has a core for every thread, and no other rank has that core too.
  kSufficient,
  // Other jobs may use the same cpus.
  kNotExclusive,
  // There are more threads than cpus.
  kOversubscribed,
};

// The reason as a word for scripts: "off", "user-placed", "foreign-placer", ...
const char* veto_name(VetoReason reason);

struct Veto {
  VetoReason reason;
  std::string text;  // what was found, one line without a full stop
};

// The vetoes, the cheapest first. The last two depend on what all ranks of a node need, so all
// ranks come to the same result. The first two are found by one rank alone. That rank does not come
// to the meeting, and the others learn at the deadline that it is missing.

// Reads the environment only. OMP_PLACES with a name (cores, threads, ...) is no veto: such
// places are laid out inside the share.
std::optional<Veto> veto_by_environment(const PlaceSetting& setting,
                                        const Environment& environment);

// What veto_by_binding() judges.
struct BindingFacts {
  // What the initial thread may run on now.
  CpuSet mask;
  // What it was when the process started, if that is known.
  std::optional<CpuSet> first_mask = {};
  bool is_forked_child = false;
  // OMP_NUM_THREADS or the like was given, or threads=share needs no number.
  bool has_explicit_threads = false;
};
// A veto if this process may not be placed, or does not know its number of threads.
std::optional<Veto> veto_by_binding(const BindingFacts& state);

// What each rank of a node has and needs.
struct RankNeed {
  CpuSet mask;
  // 0: one for each cpu of its share (threads=share), until settled_needs() gives a number.
  std::uint32_t num_threads = 1;
};

// A veto if nobody lacks anything.
std::optional<Veto> veto_by_need(const Machine& machine, const std::vector<RankNeed>& ranks);

// A veto if the pool is not enough, or may not be this job's, or if the only rank has all of it
// already.
std::optional<Veto> veto_by_pool(const CpuPool& pool, const std::vector<RankNeed>& ranks);

}  // namespace hierbar
