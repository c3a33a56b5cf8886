// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/launch_lines.hpp"

#include <algorithm>
#include <utility>

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

std::string words_of(const Variables& variables, const std::string& before,
                     const std::string& between) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += before + name + between + shell_quoted(value) + ' ';
  return text;
}

bool is_even(const Candidate& candidate) { return candidate.split.back() == candidate.per_node(); }

std::string ranks_of(const Candidate& candidate) {
  return "-n " + std::to_string(candidate.num_ranks()) + ' ';
}
std::string per_node_of(const Candidate& candidate, const char* option) {
  return candidate.num_nodes() == 1 ? "" : option + std::to_string(candidate.per_node()) + ' ';
}

std::string srun_nodes(const Candidate& candidate) {
  const std::string nodes = "-N " + std::to_string(candidate.num_nodes()) + ' ';
  const std::string per_node = std::to_string(candidate.per_node()) + ' ';
  // Slurm would even out what only the last node has less of.
  return nodes + (is_even(candidate) ? "--ntasks-per-node=" + per_node
                                     : "--distribution=plane=" + per_node);
}

// With `binding`, or without any if it is empty.
std::string options_line(const JobLine& line, const Candidate& candidate,
                         const std::string& binding, const Variables& variables,
                         const std::string& program) {
  const std::string per_node = line.per_node_always
                                   ? line.per_node + std::to_string(candidate.per_node()) + ' '
                                   : per_node_of(candidate, line.per_node);
  return "mpiexec " + ranks_of(candidate) + per_node + binding +
         words_of(variables, line.variable, line.before_value) + program;
}

std::string openmpi_line(const Candidate& candidate, const std::string& program) {
  const std::string variables = words_of(openmp_variables(candidate, true), "-x ", "=");
  const std::string per_node = std::to_string(candidate.per_node());
  const std::string threads = std::to_string(candidate.num_threads);
  if (candidate.pattern == Pattern::kPacked) {
    return "mpiexec " + ranks_of(candidate) + "--map-by ppr:" + per_node + ":node:PE=" + threads +
           " --bind-to core " + variables + program;
  }
  const std::string nodes =
      candidate.num_nodes() == 1 ? "" : " --nodes " + std::to_string(candidate.num_nodes());
  return "hierbar place --per-node " + per_node + " -t " + threads + nodes + " --pattern " +
         pattern_name(candidate.pattern) + " --settings rankfile > ranks && mpiexec " +
         ranks_of(candidate) + "--rankfile ranks " + variables + program;
}

// Slurm gives a step no cpu beyond these, and then refuses a mask that has others.
std::uint32_t cpus_per_task(const Candidate& candidate) {
  std::uint32_t most = candidate.num_threads;
  for (const CpuSet& share : candidate.shares) most = std::max(most, share.count());
  return most;
}

std::string srun_line(const Candidate& candidate, const std::string& binding,
                      const std::string& program) {
  return words_of(openmp_variables(candidate, true), "", "=") + "srun " + srun_nodes(candidate) +
         ranks_of(candidate) + "--cpus-per-task=" + std::to_string(cpus_per_task(candidate)) + ' ' +
         binding + ' ' + program;
}

// The setting as a word of the line, with a blank behind it. A variable's value is quoted.
std::string binding_words(const JobLine& line, const std::string& setting) {
  if (!line.setting_is_variable) return setting + ' ';
  const std::size_t equals = setting.find('=');
  return words_of({{setting.substr(0, equals), setting.substr(equals + 1)}}, line.variable,
                  line.before_value);
}

}  // namespace

std::string line_name(const Launcher& launcher) {
  return launcher.line->name != nullptr ? launcher.line->name : launcher.name;
}

std::string launch_line(const Launcher& launcher, const Machine& machine,
                        const Candidate& candidate, const Program& program) {
  const JobLine& line = *launcher.line;
  const std::string words = shell_line(program);
  if (line.syntax == JobLine::Syntax::kOpenMpi) return openmpi_line(candidate, words);
  const NodePlacement node{machine, candidate.pattern,
                           std::vector<std::uint32_t>(candidate.per_node(), candidate.num_threads),
                           candidate.shares};
  const std::string setting = *launcher_setting(line.setting, node);
  if (line.syntax == JobLine::Syntax::kSlurm) return srun_line(candidate, setting, words);
  return options_line(
      line, candidate, binding_words(line, setting),
      line.has_intel_runtime ? intel_variables(candidate) : openmp_variables(candidate, true),
      words);
}

std::string plain_line(const Launcher& launcher, const Candidate& candidate,
                       const Program& program) {
  const JobLine& line = *launcher.line;
  const Variables variables = openmp_variables(candidate, false);
  if (line.syntax == JobLine::Syntax::kOpenMpi) {
    const std::string per_node =
        candidate.num_nodes() == 1
            ? ""
            : "--map-by ppr:" + std::to_string(candidate.per_node()) + ":node ";
    return "mpiexec " + ranks_of(candidate) + per_node + words_of(variables, "-x ", "=") +
           shell_line(program);
  }
  if (line.syntax == JobLine::Syntax::kSlurm) {
    return words_of(variables, "", "=") + "srun " + srun_nodes(candidate) + ranks_of(candidate) +
           shell_line(program);
  }
  return options_line(line, candidate, "", variables, shell_line(program));
}

}  // namespace hierbar
