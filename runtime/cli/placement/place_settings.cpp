// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/placement/place_settings.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iomanip>
#include <sstream>

#include "placement/share/launcher_options.hpp"

namespace hierbar {
namespace {

struct Job {
  const NodePlacement& node;
  std::uint32_t num_nodes;
  ProcBind proc_bind;
};

struct LauncherDialect {
  const char* name;
  const char* meaning;
  std::function<Result<std::string>(const Job&)> write;
};

Result<std::string> line(const std::string& text) { return text + '\n'; }
Result<std::string> line(const Result<std::string>& text) { return text ? line(*text) : text; }

template <class Write>
Result<std::string> lines(std::size_t count, Write write) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += write(i) + '\n';
  return text;
}

const std::vector<LauncherDialect>& table() {
  static const std::vector<LauncherDialect> settings{
      {"mpiexec", "MPICH and its kin, by cpu", [](const Job& job) { return line(hydra_option(job.node.shares)); }},
      {"srun", "Slurm, a mask for each rank of a node", [](const Job& job) { return line(slurm_option(job.node.shares)); }},
      {"map_cpu", "Slurm, one cpu for each rank of a node", [](const Job& job) { return line(slurm_map_cpu(job.node)); }},
      {"sockets", "Slurm chooses, whole packages", [](const Job& job) { return line(slurm_policy(job.node, "sockets")); }},
      {"cores", "Slurm chooses, whole cores", [](const Job& job) { return line(slurm_policy(job.node, "cores")); }},
      {"threads", "Slurm chooses, hardware threads", [](const Job& job) { return line(slurm_policy(job.node, "threads")); }},
      {"rank", "Slurm chooses, by the rank's number", [](const Job& job) { return line(slurm_policy(job.node, "rank")); }},
      {"rankfile", "Open MPI, a file", [](const Job& job) { return rankfile(job.node.machine, job.node.shares, job.num_nodes); }},
      {"map-by", "Open MPI chooses, by a rule", [](const Job& job) { return line(openmpi_map_by(job.node)); }},
      {"intel", "Intel MPI, for its environment", [](const Job& job) { return line(intel_pin_domain(job.node)); }},
      {"mvapich2", "MVAPICH2, for its environment", [](const Job& job) { return line(mvapich_mapping(job.node)); }},
      {"pals", "HPE Cray's mpiexec", [](const Job& job) { return line(pals_option(job.node)); }},
      {"taskset", "no launcher: a line for each rank of a node",
       [](const Job& job) {
         const std::vector<std::string> words = taskset_words(job.node);
         return lines(words.size(), [&](std::size_t rank) { return words[rank]; });
       }},
      {"omp", "OpenMP's variables: a line for each rank of a node",
       [](const Job& job) {
         return lines(job.node.shares.size(), [&](std::size_t rank) { return openmp_settings(job.node, rank, job.proc_bind); });
       }},
  };
  return settings;
}

}  // namespace

std::string all_settings(const std::string& separator) {
  std::string names;
  for (const LauncherDialect& one : table()) names += (names.empty() ? "" : separator) + std::string(one.name);
  return names;
}

std::string settings_help() {
  std::ostringstream text;
  for (const LauncherDialect& one : table()) text << "  " << std::left << std::setw(13) << one.name << one.meaning << '\n';
  return text.str();
}

bool is_settings(const std::string& name) {
  return std::any_of(table().begin(), table().end(), [&](const LauncherDialect& one) { return name == one.name; });
}

std::string openmp_settings(const NodePlacement& node, std::size_t rank, ProcBind proc_bind) {
  const std::uint32_t threads = node.threads[rank];
  return "OMP_NUM_THREADS=" + std::to_string(threads) +
         " OMP_PLACES=" + to_omp_places(places_in(node.machine, node.shares[rank], threads, proc_bind)) +
         " OMP_PROC_BIND=" + proc_bind_name(proc_bind);
}

Result<std::string> place_settings(const std::string& name, const NodePlacement& node, std::uint32_t num_nodes,
                                   ProcBind proc_bind) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const LauncherDialect& one) { return name == one.name; });
  return found->write({node, num_nodes, proc_bind});
}

}  // namespace hierbar
