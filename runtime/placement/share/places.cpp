// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/places.hpp"

#include <utility>

namespace hierbar {

std::vector<CpuSet> cores_of(const Machine& machine, const CpuSet& cpus) {
  std::vector<CpuSet> cores;
  for (const Unit& unit : machine.units) {
    if (const CpuSet core = unit.cpus & cpus; unit.children.empty() && !core.empty())
      cores.push_back(core);
  }
  return cores;
}

std::vector<CpuSet> cpus_core_first(std::vector<CpuSet> cores) {
  std::vector<CpuSet> cpus;
  for (bool any = true; any;) {
    any = false;
    for (CpuSet& core : cores) {
      if (core.empty()) continue;
      const auto cpu = static_cast<std::uint32_t>(core.first());
      cpus.push_back(CpuSet::range(cpu, cpu));
      core.reset(cpu);
      any = true;
    }
  }
  return cpus;
}

std::vector<CpuSet> cpus_core_by_core(const std::vector<CpuSet>& cores) {
  std::vector<CpuSet> cpus;
  for (const CpuSet& core : cores) {
    for (const std::uint32_t cpu : core) cpus.push_back(CpuSet::range(cpu, cpu));
  }
  return cpus;
}

namespace {

constexpr std::pair<ProcBind, const char*> kNames[] = {
    {ProcBind::kClose, "close"}, {ProcBind::kSpread, "spread"}, {ProcBind::kPrimary, "primary"}};

}  // namespace

std::optional<ProcBind> parse_proc_bind(std::string_view name) {
  for (const auto& [bind, text] : kNames) {
    if (name == text) return bind;
  }
  return std::nullopt;
}

const char* proc_bind_name(ProcBind bind) { return kNames[static_cast<int>(bind)].second; }

std::vector<CpuSet> places_in(const Machine& machine, const CpuSet& share,
                              std::uint32_t num_threads, ProcBind bind) {
  if (bind == ProcBind::kPrimary) return {share};
  std::vector<CpuSet> cores = cores_of(machine, share);
  if (num_threads <= cores.size()) return cores;
  return bind == ProcBind::kSpread ? cpus_core_by_core(cores) : cpus_core_first(std::move(cores));
}

std::vector<CpuSet> bind_threads(const std::vector<CpuSet>& places, std::uint32_t num_threads,
                                 ProcBind bind) {
  std::vector<CpuSet> threads;
  for (std::uint64_t thread = 0; thread < num_threads; ++thread) {
    // If there are more threads than places, neighbouring threads share a place, under both
    // policies.
    const bool apart = bind == ProcBind::kSpread || num_threads > places.size();
    const std::uint64_t place = bind == ProcBind::kPrimary ? 0
                                : apart                    ? thread * places.size() / num_threads
                                                           : thread;
    threads.push_back(places[static_cast<std::size_t>(place)]);
  }
  return threads;
}

std::string join_cpus(const CpuSet& cpus, const std::string& separator) {
  std::string text;
  for (const std::uint32_t cpu : cpus)
    text += (text.empty() ? "" : separator) + std::to_string(cpu);
  return text;
}

std::string to_omp_places(const std::vector<CpuSet>& places) {
  std::string text;
  for (const CpuSet& place : places)
    text += (text.empty() ? "{" : ",{") + join_cpus(place, ",") + "}";
  return text;
}

}  // namespace hierbar
