// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/host.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/bound_thread.hpp"
#include "bench/common/text.hpp"

namespace hierbar::bench {
namespace {

namespace fs = std::filesystem;

const fs::path kCpuDirectory = "/sys/devices/system/cpu";
const fs::path kNodeDirectory = "/sys/devices/system/node";

// The first line of a file. Empty if it cannot be read.
std::string first_line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of the first "key : value" line of /proc/cpuinfo. Empty if there is none.
std::string cpuinfo_value(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos)
      return line.substr(std::min(colon + 2, line.size()));
  }
  return "";
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

// The allowed cpus, ascending.
std::vector<int> allowed_cpus() {
  const KernelMask mask = KernelMask::of_thread();
  std::vector<int> cpus;
  for (std::uint32_t cpu = 0; cpu < KernelMask::kMostCpus; ++cpu) {
    if (mask.has(cpu)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus.empty() ? std::vector<int>{0} : cpus;
}

std::string core_of(int cpu) {
  const fs::path topology = kCpuDirectory / fmt::format("cpu{}", cpu) / "topology";
  const std::string siblings = first_line_of(topology / "thread_siblings_list");
  return siblings.empty() ? fmt::format("cpu{}", cpu) : siblings;
}

std::vector<int> one_per_core_first(const std::vector<int>& allowed) {
  std::map<std::string, int> seen;
  std::vector<std::pair<int, int>> ranked;  // (number of earlier cpus of the same core, cpu)
  ranked.reserve(allowed.size());
  for (const int cpu : allowed) ranked.emplace_back(seen[core_of(cpu)]++, cpu);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> cpus;
  cpus.reserve(ranked.size());
  for (const auto& [rank, cpu] : ranked) cpus.push_back(cpu);
  return cpus;
}

// The numbers of those entries of `directory` whose names are `prefix` and a number.
std::vector<int> numbered_entries(const fs::path& directory, std::string_view prefix) {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    const std::string digits = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos)
      numbers.push_back(std::stoi(digits));
  }
  return numbers;
}

std::string describe_topology(std::size_t num_allowed) {
  std::set<std::string> packages;
  std::set<std::string> cores;
  const std::vector<int> present = numbered_entries(kCpuDirectory, "cpu");
  for (const int cpu : present) {
    packages.insert(
        first_line_of(kCpuDirectory / fmt::format("cpu{}", cpu) / "topology/physical_package_id"));
    cores.insert(core_of(cpu));
  }
  const std::size_t num_nodes =
      std::max<std::size_t>(numbered_entries(kNodeDirectory, "node").size(), 1);
  return fmt::format("{}, {}, {}, {} ({} allowed)", counted(packages.size(), "package"),
                     counted(num_nodes, "NUMA node"), counted(cores.size(), "core"),
                     counted(present.size(), "cpu"), num_allowed);
}

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

Host describe_host() {
  const std::vector<int> allowed = allowed_cpus();
  Host host;
  host.cpu_model = or_unknown(cpuinfo_value("model name"));
  host.kernel = kernel_name();
  host.governor = or_unknown(first_line_of(kCpuDirectory / fmt::format("cpu{}", allowed.front()) /
                                           "cpufreq/scaling_governor"));
  host.topology = describe_topology(allowed.size());
  host.hypervisor = cpuinfo_value("flags").find(" hypervisor") != std::string::npos;
  host.cpus = one_per_core_first(allowed);
  return host;
}

}  // namespace hierbar::bench
