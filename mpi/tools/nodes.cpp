// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/tools/nodes.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/variables.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::size_t kMostText = 256;
using Text = std::array<char, kMostText>;

struct Whereabouts {
  Text host, boot, address, pattern;
  cpu_set_t cpus;
};

void put(Text& text, const std::string& value) {
  const std::size_t size = std::min(value.size(), text.size() - 1);
  std::memcpy(text.data(), value.data(), size);
}

Whereabouts own_whereabouts() {
  const Environment environment = own_environment();
  Whereabouts own{};
  put(own.host, host_name());
  put(own.boot, read_small_file("/proc/sys/kernel/random/boot_id", kMostText).text);
  put(own.address, value_of(environment, "SLURM_TOPOLOGY_ADDR"));
  put(own.pattern, value_of(environment, "SLURM_TOPOLOGY_ADDR_PATTERN"));
  sched_getaffinity(0, sizeof own.cpus, &own.cpus);
  return own;
}

// "4 ranks for 2 cpus"; empty if there is a cpu for every rank of every machine.
std::string outnumbered_cpus(const std::vector<Whereabouts>& all) {
  struct Machine {
    int num_ranks = 0;
    cpu_set_t cpus{};
  };
  std::map<std::string, Machine> machines;
  for (const Whereabouts& rank : all) {
    Machine& machine = machines[rank.boot.data()];
    ++machine.num_ranks;
    CPU_OR(&machine.cpus, &machine.cpus, &rank.cpus);
  }
  for (const auto& [boot, machine] : machines) {
    const int num_cpus = CPU_COUNT(&machine.cpus);
    if (machine.num_ranks > num_cpus)
      return std::to_string(machine.num_ranks) + " ranks for " + std::to_string(num_cpus) + " cpus";
  }
  return "";
}

}  // namespace

Nodes find_nodes(MPI_Comm comm, const NodesOptions& options) {
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  const Whereabouts own = own_whereabouts();
  std::vector<Whereabouts> all(rank == 0 ? static_cast<std::size_t>(num_ranks) : 0);
  MPI_Gather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0, comm);
  Nodes nodes;
  std::set<std::string> hosts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!hosts.insert(all[i].host.data()).second && !options.ranks_as_nodes) continue;
    nodes.ranks.push_back(static_cast<int>(i));
    nodes.addresses.push_back({all[i].address.data(), all[i].pattern.data()});
  }
  if (rank != 0) return nodes;
  const std::string outnumbered = outnumbered_cpus(all);
  if (nodes.ranks.size() < 2) {
    nodes.refusal = "all " + std::to_string(num_ranks) + " ranks are on one node, '" +
                    all.front().host.data() +
                    "'; start one on each of several nodes (for instance with -ppn 1), or give "
                    "--ranks-as-nodes to try it here";
  } else if (!outnumbered.empty() && !options.oversubscribed) {
    nodes.refusal = "there are " + outnumbered +
                    ", so time slices would be measured; start fewer ranks, or give "
                    "--oversubscribed to measure anyway";
  } else if (!outnumbered.empty()) {
    nodes.note = "there were " + outnumbered + ": overheads may be time slices";
  }
  return nodes;
}

}  // namespace hierbar::mpi
