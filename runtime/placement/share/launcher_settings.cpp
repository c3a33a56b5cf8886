// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/launcher_settings.hpp"

#include <algorithm>
#include <cinttypes>

#include "base/launchers.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

using Form = BindingSetting::Form;

// "0xff"
std::string hexadecimal(const CpuSet& cpus) {
  std::string text = "0x";
  for (std::size_t i = cpus.words().size(); i-- > 0;) {
    text += format_text(i + 1 == cpus.words().size() ? "%" PRIx64 : "%016" PRIx64, cpus.words()[i]);
  }
  return text;
}

std::string write_share(const BindingSetting& setting, const CpuSet& share) {
  if (setting.form == Form::kMasks) return hexadecimal(share);
  if (setting.form == Form::kBareMasks) return hexadecimal(share).substr(2);
  return join_cpus(share, setting.between_cpus);
}

// Their number of threads. Errors: it differs.
Result<std::uint32_t> common_threads(const NodePlacement& node, const char* option) {
  const auto differs = [&](std::uint32_t threads) { return threads != node.threads.front(); };
  if (std::any_of(node.threads.begin(), node.threads.end(), differs)) {
    return Error{std::string("ranks have different numbers of threads, and ") + option +
                 " is one number for all"};
  }
  return node.threads.front();
}

Result<std::string> policy(const BindingSetting& setting, const NodePlacement& node) {
  const Result<std::uint32_t> threads = common_threads(node, "--cpus-per-task");
  if (!threads) return Error{threads.error()};
  return setting.before + std::to_string(*threads) + setting.after;
}

Result<std::string> map_by(const NodePlacement& node) {
  const Result<std::uint32_t> threads = common_threads(node, "PE");
  if (!threads) return Error{threads.error()};
  const std::string elements = ":PE=" + std::to_string(*threads) + " --bind-to core";
  switch (node.pattern) {
    case Pattern::kPacked:
      return "--map-by slot" + elements;
    case Pattern::kAlternating:
    case Pattern::kCores:
      return "--map-by socket" + elements;
    case Pattern::kSockets:
      return std::string("--map-by socket --bind-to socket");
    default:
      return Error{std::string("Open MPI has no mapping like '") + pattern_name(node.pattern) +
                   "'; a rankfile has"};
  }
}

// Why map_cpu cannot be used; empty if it can. The threads of a rank share its one cpu.
std::string not_one_cpu_each(const NodePlacement& node) {
  for (std::size_t rank = 0; rank < node.shares.size(); ++rank) {
    if (node.shares[rank].count() == 1) continue;
    return "rank " + std::to_string(rank) + " has cpus " + node.shares[rank].to_string() +
           ", and map_cpu gives a rank one; srun takes several as masks";
  }
  return "";
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
    while (end < slots.size() && slots[end]->package == slots[begin]->package &&
           slots[end]->core == slots[end - 1]->core + 1)
      ++end;
    text +=
        format_text("%s%d:%d", text.empty() ? "" : ",", slots[begin]->package, slots[begin]->core);
    if (end - begin > 1) text += format_text("-%d", slots[end - 1]->core);
    begin = end;
  }
  return text;
}

// A line for each rank, which `write(rank)` returns.
template <class Write>
std::string rank_lines(std::size_t num_ranks, Write write) {
  std::string text;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) text += write(rank) + '\n';
  return text;
}

constexpr const char* kTaskset = "taskset";
constexpr const char* kOpenMp = "omp";

// The names of all settings of `hierbar place` with their meanings.
std::vector<std::pair<std::string, std::string>> all_place_settings() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Launcher* launcher : launchers_for_people()) {
    for (const BindingSetting& setting : launcher->settings)
      all.emplace_back(setting.name, setting.meaning);
  }
  all.emplace_back(kTaskset, "no launcher: a line for each rank of a node");
  all.emplace_back(kOpenMp, "OpenMP's variables: a line for each rank of a node");
  return all;
}

}  // namespace

Result<std::string> launcher_setting(std::string_view name, const NodePlacement& node,
                                     std::uint32_t num_nodes) {
  const BindingSetting& setting = *find_setting(name);
  if (setting.form == Form::kRankfile) return rankfile(node.machine, node.shares, num_nodes);
  if (setting.form == Form::kMapBy) return map_by(node);
  if (setting.form == Form::kPolicy) return policy(setting, node);
  if (setting.form == Form::kOneCpu) {
    if (const std::string problem = not_one_cpu_each(node); !problem.empty()) return Error{problem};
  }
  std::string text = setting.before;
  for (std::size_t rank = 0; rank < node.shares.size(); ++rank)
    text += (rank == 0 ? "" : setting.between_ranks) + write_share(setting, node.shares[rank]);
  return text + setting.after;
}

Result<std::string> rankfile(const Machine& machine, const std::vector<CpuSet>& shares,
                             std::uint32_t num_nodes) {
  const std::vector<Slot> slots = slots_of(machine);
  std::vector<const CpuSet*> owners(slots.size(), nullptr);
  std::vector<std::string> lists;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    std::vector<const Slot*> own;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].cpus.intersects(shares[rank])) continue;
      if (slots[i].package < 0)
        return Error{"a rankfile names cores by package, and this machine tells none"};
      if (owners[i] != nullptr && !owners[i]->intersects(shares[rank])) {
        return Error{"rank " + std::to_string(rank) +
                     " and another have parts of one core, and a rankfile knows only whole cores"};
      }
      owners[i] = &shares[rank];
      own.push_back(&slots[i]);
    }
    lists.push_back(slot_list(own));
    if (lists.back().size() > kLongestList) {
      return Error{"the cores of rank " + std::to_string(rank) + " make a list of " +
                   std::to_string(lists.back().size()) +
                   " characters, and Open MPI reads at most " + std::to_string(kLongestList)};
    }
  }
  std::string text;
  for (std::size_t rank = 0; rank < shares.size() * num_nodes; ++rank) {
    const std::string node =
        num_nodes == 1 ? "localhost" : "+n" + std::to_string(rank / shares.size());
    text +=
        "rank " + std::to_string(rank) + "=" + node + " slot=" + lists[rank % shares.size()] + '\n';
  }
  return text;
}

std::string openmp_settings(const NodePlacement& node, std::size_t rank, ProcBind proc_bind) {
  const std::uint32_t threads = node.threads[rank];
  return "OMP_NUM_THREADS=" + std::to_string(threads) + " OMP_PLACES=" +
         to_omp_places(places_in(node.machine, node.shares[rank], threads, proc_bind)) +
         " OMP_PROC_BIND=" + proc_bind_name(proc_bind);
}

std::string place_settings_names(const std::string& separator) {
  std::string names;
  for (const auto& [name, meaning] : all_place_settings())
    names += (names.empty() ? "" : separator) + name;
  return names;
}

std::string place_settings_help() {
  std::string text;
  for (const auto& [name, meaning] : all_place_settings())
    text += format_text("  %-13s%s\n", name.c_str(), meaning.c_str());
  return text;
}

bool is_place_settings(std::string_view name) {
  return find_setting(name) != nullptr || name == kTaskset || name == kOpenMp;
}

Result<std::string> place_settings(std::string_view name, const NodePlacement& node,
                                   std::uint32_t num_nodes, ProcBind proc_bind) {
  if (name == kTaskset) {
    return rank_lines(node.shares.size(), [&](std::size_t rank) {
      return "taskset -c " + join_cpus(node.shares[rank], ",");
    });
  }
  if (name == kOpenMp) {
    return rank_lines(node.shares.size(),
                      [&](std::size_t rank) { return openmp_settings(node, rank, proc_bind); });
  }
  Result<std::string> text = launcher_setting(name, node, num_nodes);
  if (text && !text->ends_with('\n')) *text += '\n';
  return text;
}

}  // namespace hierbar
