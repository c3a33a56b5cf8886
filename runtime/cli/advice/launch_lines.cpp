// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/launch_lines.hpp"

#include <algorithm>
#include <utility>

#include "placement/share/launcher_options.hpp"
#include "placement/share/launcher_settings.hpp"

namespace hierbar {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// A rank of one thread is told so: else its runtime takes a thread for each cpu that it sees.
Variables openmp_variables(const Candidate& candidate, bool bind) {
  Variables variables{{"OMP_NUM_THREADS", std::to_string(candidate.num_threads)}};
  if (!bind || candidate.num_threads == 1) return variables;
  variables.emplace_back("OMP_PLACES", "cores");
  variables.emplace_back("OMP_PROC_BIND", "close");
  return variables;
}

// Intel's runtime.
Variables intel_variables(const Candidate& candidate) {
  Variables variables{{"OMP_NUM_THREADS", std::to_string(candidate.num_threads)}};
  if (candidate.num_threads > 1) variables.emplace_back("KMP_AFFINITY", "granularity=core,compact");
  return variables;
}

std::string words_of(const Variables& variables, const std::string& before, const std::string& between) {
  std::string text;
  for (const auto& [name, value] : variables) text += before + name + between + shell_quoted(value) + ' ';
  return text;
}

bool is_even(const Candidate& candidate) { return candidate.split.back() == candidate.per_node(); }

std::string ranks_of(const Candidate& candidate) { return "-n " + std::to_string(candidate.num_ranks()) + ' '; }
std::string per_node_of(const Candidate& candidate, const char* option) {
  return candidate.num_nodes() == 1 ? "" : option + std::to_string(candidate.per_node()) + ' ';
}

std::string srun_nodes(const Candidate& candidate) {
  const std::string nodes = "-N " + std::to_string(candidate.num_nodes()) + ' ';
  const std::string per_node = std::to_string(candidate.per_node()) + ' ';
  // Slurm would even out what only the last node has less of.
  return nodes + (is_even(candidate) ? "--ntasks-per-node=" + per_node : "--distribution=plane=" + per_node);
}

std::string hydra_line(const Candidate& candidate, const std::string& program) {
  return "mpiexec " + ranks_of(candidate) + per_node_of(candidate, "-ppn ") + hydra_option(candidate.shares) + ' ' +
         words_of(openmp_variables(candidate, true), "-genv ", " ") + program;
}

std::string openmpi_line(const Candidate& candidate, const std::string& program) {
  const std::string variables = words_of(openmp_variables(candidate, true), "-x ", "=");
  const std::string per_node = std::to_string(candidate.per_node());
  const std::string threads = std::to_string(candidate.num_threads);
  if (candidate.pattern == Pattern::kPacked) {
    return "mpiexec " + ranks_of(candidate) + "--map-by ppr:" + per_node + ":node:PE=" + threads + " --bind-to core " +
           variables + program;
  }
  const std::string nodes = candidate.num_nodes() == 1 ? "" : " --nodes " + std::to_string(candidate.num_nodes());
  return "hierbar place -n " + per_node + " -t " + threads + nodes + " --pattern " + pattern_name(candidate.pattern) +
         " --settings rankfile > ranks && mpiexec " + ranks_of(candidate) + "--rankfile ranks " + variables + program;
}

// Slurm gives a step no cpu beyond these, and then refuses a mask that has others.
std::uint32_t cpus_per_task(const Candidate& candidate) {
  std::uint32_t most = candidate.num_threads;
  for (const CpuSet& share : candidate.shares) most = std::max(most, share.count());
  return most;
}

std::string srun_line(const Candidate& candidate, const std::string& program) {
  return words_of(openmp_variables(candidate, true), "", "=") + "srun " + srun_nodes(candidate) + ranks_of(candidate) +
         "--cpus-per-task=" + std::to_string(cpus_per_task(candidate)) + ' ' + slurm_option(candidate.shares) + ' ' + program;
}

std::string intel_line(const NodePlacement& node, const Candidate& candidate, const std::string& program) {
  const std::string domain = intel_pin_domain(node);
  const std::size_t equals = domain.find('=');
  return "mpiexec " + ranks_of(candidate) + per_node_of(candidate, "-ppn ") + "-genv " + domain.substr(0, equals) + ' ' +
         shell_quoted(domain.substr(equals + 1)) + ' ' + words_of(intel_variables(candidate), "-genv ", " ") + program;
}

std::string pals_line(const NodePlacement& node, const Candidate& candidate, const std::string& program) {
  return "mpiexec " + ranks_of(candidate) + "--ppn " + std::to_string(candidate.per_node()) + ' ' + pals_option(node) + ' ' +
         words_of(openmp_variables(candidate, true), "--env ", "=") + program;
}

}  // namespace

std::vector<LaunchLine> launch_lines(const Machine& machine, const Candidate& candidate, const Program& program) {
  const NodePlacement node{machine, candidate.pattern, std::vector<std::uint32_t>(candidate.per_node(), candidate.num_threads),
                           candidate.shares};
  const std::string words = shell_line(program);
  return {{LaunchKind::kHydra, "MPICH", hydra_line(candidate, words)},
          {LaunchKind::kOpenMpi, "Open MPI", openmpi_line(candidate, words)},
          {LaunchKind::kSrun, "Slurm", srun_line(candidate, words)},
          {LaunchKind::kIntel, "Intel MPI", intel_line(node, candidate, words)},
          {LaunchKind::kPals, "PALS", pals_line(node, candidate, words)}};
}

std::string plain_line(LaunchKind kind, const Candidate& candidate, const Program& program) {
  const Variables variables = openmp_variables(candidate, false);
  if (kind == LaunchKind::kOpenMpi) {
    const std::string per_node =
        candidate.num_nodes() == 1 ? "" : "--map-by ppr:" + std::to_string(candidate.per_node()) + ":node ";
    return "mpiexec " + ranks_of(candidate) + per_node + words_of(variables, "-x ", "=") + shell_line(program);
  }
  if (kind == LaunchKind::kSrun) {
    return words_of(variables, "", "=") + "srun " + srun_nodes(candidate) + ranks_of(candidate) + shell_line(program);
  }
  return "mpiexec " + ranks_of(candidate) + per_node_of(candidate, "-ppn ") + words_of(variables, "-genv ", " ") +
         shell_line(program);
}

}  // namespace hierbar
