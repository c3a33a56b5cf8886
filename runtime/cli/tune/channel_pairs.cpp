// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/channel_pairs.hpp"

#include <algorithm>

namespace hierbar {
namespace {

using network::ChannelKind;
using network::WorkerChannel;
using Cpus = std::vector<std::uint32_t>;

// The first cpu of each core in the unit.
Cpus cores_in(const Machine& machine, const CpuSet& unit) {
  const CpuSet cpus = machine.one_cpu_per_core(unit & machine.allowed);
  return {cpus.begin(), cpus.end()};
}

// The units of a level that lie in `cpus` and have a core that may be used.
std::vector<Cpus> units_in(const Machine& machine, Level level, const CpuSet& cpus) {
  std::vector<Cpus> units;
  for (const Unit& unit : machine.units) {
    if (!unit.has(level) || !unit.cpus.is_subset_of(cpus)) continue;
    if (Cpus cores = cores_in(machine, unit.cpus); !cores.empty())
      units.push_back(std::move(cores));
  }
  return units;
}

WorkerChannel between(ChannelKind kind, const Cpus& one, const Cpus& other) {
  WorkerChannel channel{channel_name(kind), {}};
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    channel.cpu_pairs.emplace_back(one[i], other[i]);
  return channel;
}

WorkerChannel inside(ChannelKind kind, const Cpus& cores) {
  WorkerChannel channel{channel_name(kind), {}};
  for (std::size_t i = 0; i + 1 < cores.size(); i += 2)
    channel.cpu_pairs.emplace_back(cores[i], cores[i + 1]);
  return channel;
}

// Pairs between the first two parts of the first whole that has two.
void add_between(const Machine& machine, ChannelKind kind, Level part, Level whole,
                 std::vector<WorkerChannel>& channels) {
  for (const Unit& unit : machine.units) {
    if (!unit.has(whole)) continue;
    const std::vector<Cpus> parts = units_in(machine, part, unit.cpus);
    if (parts.size() < 2) continue;
    channels.push_back(between(kind, parts[0], parts[1]));
    return;
  }
}

}  // namespace

std::vector<WorkerChannel> channels_of(const Machine& machine) {
  std::vector<WorkerChannel> channels;
  for (const Cpus& l3 : units_in(machine, Level::kL3, machine.present)) {
    if (l3.size() < 2) continue;
    channels.push_back(inside(ChannelKind::kL3, l3));
    break;
  }
  const bool has_numa = !units_in(machine, Level::kNuma, machine.present).empty();
  const bool has_l3 = !units_in(machine, Level::kL3, machine.present).empty();
  if (has_l3) {
    add_between(machine, ChannelKind::kNuma, Level::kL3, has_numa ? Level::kNuma : Level::kMachine,
                channels);
  } else if (const Cpus cores = cores_in(machine, machine.present); cores.size() > 1) {
    channels.push_back(inside(ChannelKind::kNuma, cores));
  }
  add_between(machine, ChannelKind::kAcrossNuma, Level::kNuma, Level::kPackage, channels);
  add_between(machine, ChannelKind::kPackage, Level::kPackage, Level::kMachine, channels);
  channels.push_back({channel_name(ChannelKind::kNetwork), {}});
  return channels;
}

}  // namespace hierbar
