// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/veto.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

#include "base/text.hpp"

namespace hierbar {
namespace {

Veto found(VetoReason reason, const char* variable, const std::string& value, const char* meaning) {
  return {reason, std::string(variable) + "=" + value + " " + meaning};
}

bool is_off(const std::string& word) {
  return word.empty() || word == "0" || word == "off" || word == "no" || word == "disable" ||
         word == "false";
}

// Whether this lists places. A list starts with a place, "{0,1}" or "0", or with one that is
// excluded, "!{0}". Everything else is a name.
bool lists_places(const std::string& word) {
  return !word.empty() && (word[0] == '{' || word[0] == '!' ||
                           std::isdigit(static_cast<unsigned char>(word[0])) != 0);
}

std::optional<Veto> user_placement(const Environment& environment) {
  using enum VetoReason;
  const std::string places = value_of(environment, "OMP_PLACES");
  if (lists_places(lower_words(places, ';').front()))
    return found(kUserPlaced, "OMP_PLACES", places, "lists the places");
  const std::string bind = value_of(environment, "OMP_PROC_BIND");
  const std::string first_bind = lower_words(bind, ',').front();
  if (first_bind == "false" || first_bind == "disabled") {
    return found(kUserPlaced, "OMP_PROC_BIND", bind, "says that threads are not bound");
  }
  const std::string affinity = value_of(environment, "KMP_AFFINITY");
  for (const std::string& word : lower_words(affinity, ',')) {
    if (word == "explicit" || word == "disabled" || word == "none" || word == "norespect" ||
        word.starts_with("proclist")) {
      return found(kUserPlaced, "KMP_AFFINITY", affinity,
                   "places the threads, or says that nobody shall");
    }
  }
  const std::string gomp = value_of(environment, "GOMP_CPU_AFFINITY");
  if (!gomp.empty()) return found(kUserPlaced, "GOMP_CPU_AFFINITY", gomp, "lists the cpus");
  return std::nullopt;
}

// Whether DLB moves cpus between ranks. It does so with --lewi or --drom. A later --no-lewi or
// --lewi=no revokes it, and so for drom.
bool moves_cpus(const std::string& arguments) {
  bool lewi = false;
  bool drom = false;
  for (const std::string& word : lower_words(arguments, ' ')) {
    if (word.starts_with("--lewi")) lewi = word != "--lewi=no";
    if (word.starts_with("--drom")) drom = word != "--drom=no";
    if (word == "--no-lewi") lewi = false;
    if (word == "--no-drom") drom = false;
  }
  return lewi || drom;
}

// What users set. I_MPI_PIN_INFO and I_MPI_PIN_MAPPING are not among these: Intel MPI's launcher
// sets them in every rank, to tell how it has bound it (docs/design/placement.md#d0043).
constexpr const char* kIntelPins[] = {"I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST",
                                      "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST"};

// dplace and likwid-pin bind threads when these are made, by a library that they preload. omplace
// uses dplace.
constexpr const char* kPreloadedPlacers[] = {"libdplace", "liblikwidpin"};

std::optional<Veto> foreign_placer(const Environment& environment) {
  using enum VetoReason;
  const std::string likwid = value_of(environment, "LIKWID_PIN");
  if (!likwid.empty())
    return found(kForeignPlacer, "LIKWID_PIN", likwid, "says that likwid-pin places the threads");
  const std::string preload = value_of(environment, "LD_PRELOAD");
  for (const char* library : kPreloadedPlacers) {
    if (preload.find(library) != std::string::npos) {
      return found(kForeignPlacer, "LD_PRELOAD", preload,
                   "brings a library that places the threads");
    }
  }
  const std::string mpibind = value_of(environment, "MPIBIND");
  if (!is_off(lower_words(mpibind, ' ').front())) {
    return found(kForeignPlacer, "MPIBIND", mpibind, "says that mpibind places ranks and threads");
  }
  const std::string dlb = value_of(environment, "DLB_ARGS");
  if (moves_cpus(dlb))
    return found(kForeignPlacer, "DLB_ARGS", dlb, "says that DLB moves cpus between ranks");
  const std::string geopm = value_of(environment, "GEOPM_CTL");
  if (!geopm.empty())
    return found(kForeignPlacer, "GEOPM_CTL", geopm, "says that GEOPM's launcher placed the ranks");
  const std::string pin = value_of(environment, "I_MPI_PIN");
  const bool intel_pins = pin.empty() || !is_off(lower_words(pin, ',').front());
  for (const char* name : kIntelPins) {
    const std::string value = value_of(environment, name);
    if (intel_pins && !value.empty())
      return found(kForeignPlacer, name, value, "says where Intel MPI places the ranks");
  }
  return std::nullopt;
}

}  // namespace

const char* veto_name(VetoReason reason) {
  switch (reason) {
    case VetoReason::kOff:
      return "off";
    case VetoReason::kUserPlaced:
      return "user-placed";
    case VetoReason::kForeignPlacer:
      return "foreign-placer";
    case VetoReason::kForkedChild:
      return "forked-child";
    case VetoReason::kMaskChanged:
      return "mask-changed";
    case VetoReason::kThreadsUnknown:
      return "threads-unknown";
    case VetoReason::kSufficient:
      return "sufficient";
    case VetoReason::kNotExclusive:
      return "not-exclusive";
    case VetoReason::kOversubscribed:
      return "oversubscribed";
  }
  return "";
}

std::optional<Veto> veto_by_environment(const PlaceSetting& setting,
                                        const Environment& environment) {
  if (setting.mode == PlaceMode::kOff)
    return Veto{VetoReason::kOff, std::string(kPlaceVariable) + " is off"};
  std::optional<Veto> veto = user_placement(environment);
  return veto ? veto : foreign_placer(environment);
}

std::optional<Veto> veto_by_binding(const BindingFacts& state) {
  if (state.is_forked_child)
    return Veto{VetoReason::kForkedChild, "this process was forked from one that uses OpenMP"};
  if (state.first_mask && *state.first_mask != state.mask) {
    return Veto{VetoReason::kMaskChanged, "the program was started on cpus " +
                                              state.first_mask->to_string() +
                                              " and bound itself to " + state.mask.to_string()};
  }
  if (!state.has_explicit_threads) {
    return Veto{VetoReason::kThreadsUnknown,
                "OMP_NUM_THREADS is not set, so there are as many threads as the rank has cpus; " +
                    std::string(kPlaceVariable) +
                    "=threads=share takes a thread for each cpu of a share"};
  }
  return std::nullopt;
}

std::optional<Veto> veto_by_need(const Machine& machine, const std::vector<RankNeed>& ranks) {
  CpuSet taken;
  for (const RankNeed& rank : ranks) {
    if (rank.mask.intersects(taken)) return std::nullopt;
    if (machine.one_cpu_per_core(rank.mask).count() < rank.num_threads) return std::nullopt;
    taken |= rank.mask;
  }
  return Veto{VetoReason::kSufficient, "each rank has a core of its own for every thread"};
}

std::optional<Veto> veto_by_pool(const CpuPool& pool, const std::vector<RankNeed>& ranks) {
  const auto num_threads = std::accumulate(
      ranks.begin(), ranks.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RankNeed& rank) { return sum + rank.num_threads; });
  if (num_threads > pool.capacity) {
    return Veto{VetoReason::kOversubscribed, plural(num_threads, "thread") + " for " +
                                                 plural(pool.capacity, "cpu") + ": the pool is " +
                                                 pool.why};
  }
  if (ranks.size() == 1 && ranks.front().mask == pool.cpus) {
    return Veto{VetoReason::kSufficient, "the only rank has the whole pool: " + pool.why};
  }
  if (!pool.is_exclusive) {
    return Veto{VetoReason::kNotExclusive,
                "nothing shows that the cpus are this job's alone: the pool is " + pool.why + "; " +
                    kPlaceVariable + "=pool=cpuset or pool=union takes them for it"};
  }
  return std::nullopt;
}

}  // namespace hierbar
