// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/launcher_options.hpp"

#include <algorithm>
#include <cinttypes>

#include "base/text.hpp"

namespace hierbar {
namespace {

template <class Write>
std::string list(const std::string& option, const std::vector<CpuSet>& shares, Write write) {
  std::string text = option;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) text += (rank == 0 ? "" : ",") + write(shares[rank]);
  return text;
}

// A core as a rankfile names it: "package:core".
struct Slot {
  int package = 0;
  int core = 0;
  CpuSet cpus;
};

std::vector<Slot> slots_of(const Machine& machine) {
  std::vector<Slot> slots;
  int package = -1;
  int core = 0;
  for (const Unit& unit : machine.units) {
    if (!unit.cpus.intersects(machine.allowed)) continue;
    if (unit.has(Level::kPackage)) {
      ++package;
      core = 0;
    }
    if (unit.children.empty()) slots.push_back({package, core++, unit.cpus});
  }
  return slots;
}

// Open MPI 4 copies a rank's list into 64 bytes without looking how long it is.
constexpr std::size_t kLongestList = 63;

// "0:0-3,1:2": cores that follow each other as a range.
std::string slot_list(const std::vector<const Slot*>& slots) {
  std::string text;
  for (std::size_t begin = 0; begin < slots.size();) {
    std::size_t end = begin + 1;
    while (end < slots.size() && slots[end]->package == slots[begin]->package && slots[end]->core == slots[end - 1]->core + 1)
      ++end;
    text += format_text("%s%d:%d", text.empty() ? "" : ",", slots[begin]->package, slots[begin]->core);
    if (end - begin > 1) text += format_text("-%d", slots[end - 1]->core);
    begin = end;
  }
  return text;
}

}  // namespace

std::string join_cpus(const CpuSet& cpus, char separator) {
  std::string text;
  for (const std::uint32_t cpu : cpus) text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(cpu);
  return text;
}

std::string hexadecimal(const CpuSet& cpus) {
  std::string text = "0x";
  for (std::size_t i = cpus.words().size(); i-- > 0;) {
    text += format_text(i + 1 == cpus.words().size() ? "%" PRIx64 : "%016" PRIx64, cpus.words()[i]);
  }
  return text;
}

std::string hydra_option(const std::vector<CpuSet>& shares) {
  return list("-bind-to user:", shares, [](const CpuSet& share) { return join_cpus(share, '+'); });
}

std::string slurm_option(const std::vector<CpuSet>& shares) { return list("--cpu-bind=mask_cpu:", shares, hexadecimal); }

Result<std::string> rankfile(const Machine& machine, const std::vector<CpuSet>& shares, std::uint32_t num_nodes) {
  const std::vector<Slot> slots = slots_of(machine);
  std::vector<const CpuSet*> owners(slots.size(), nullptr);
  std::vector<std::string> lists;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    std::vector<const Slot*> own;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].cpus.intersects(shares[rank])) continue;
      if (slots[i].package < 0) return Error{"a rankfile names cores by package, and this machine tells none"};
      if (owners[i] != nullptr && !owners[i]->intersects(shares[rank])) {
        return Error{"rank " + std::to_string(rank) +
                     " and another have parts of one core, and a rankfile knows only whole cores"};
      }
      owners[i] = &shares[rank];
      own.push_back(&slots[i]);
    }
    lists.push_back(slot_list(own));
    if (lists.back().size() > kLongestList) {
      return Error{"the cores of rank " + std::to_string(rank) + " make a list of " + std::to_string(lists.back().size()) +
                   " characters, and Open MPI reads at most " + std::to_string(kLongestList)};
    }
  }
  std::string text;
  for (std::size_t rank = 0; rank < shares.size() * num_nodes; ++rank) {
    const std::string node = num_nodes == 1 ? "localhost" : "+n" + std::to_string(rank / shares.size());
    text += "rank " + std::to_string(rank) + "=" + node + " slot=" + lists[rank % shares.size()] + '\n';
  }
  return text;
}

}  // namespace hierbar
