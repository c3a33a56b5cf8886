// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/launchers.hpp"
#include "base/process/process_stat.hpp"

namespace hierbar {
namespace {

bool has_process_name(const Launcher& launcher, const Process& process) {
  return std::any_of(launcher.process_names.begin(), launcher.process_names.end(),
                     [&](const char* name) { return process.name == name; });
}

// The launcher that started this process (see find_launch()); null if there is none.
const Launcher* innermost(const Environment& environment, const std::vector<Process>& ancestors) {
  std::vector<const Launcher*> present;
  for (const Launcher& launcher : known_launchers()) {
    if (has_variables_of(launcher, environment)) present.push_back(&launcher);
  }
  for (const Process& ancestor : ancestors) {
    for (const Launcher* launcher : present) {
      if (has_process_name(*launcher, ancestor)) return launcher;
    }
  }
  return present.empty() ? nullptr : present.front();
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<std::uint32_t> number_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  if (value == nullptr) return Error{std::string(name) + " is not set"};
  std::uint32_t number = 0;
  if (!parse_whole(std::string_view(value), number)) return Error{std::string(name) + ": '" + value + "' is no number"};
  return number;
}

Result<std::uint32_t> slurm_local_size(const Environment& environment) {
  constexpr const char* kList = "SLURM_STEP_TASKS_PER_NODE";
  const Result<std::uint32_t> node = number_of(environment, "SLURM_NODEID");
  if (!node) return node;
  const char* list = environment(kList);
  if (list == nullptr) return Error{std::string(kList) + " is not set"};
  const Result<std::uint32_t> tasks = tasks_on_node(list, *node);
  if (!tasks) return Error{std::string(kList) + ": '" + list + "' " + tasks.error()};
  return tasks;
}

// Flux tells only the tasks and nodes of the whole job.
Result<std::uint32_t> flux_local_size(const Environment& environment, bool& is_assumed) {
  const Result<std::uint32_t> tasks = number_of(environment, "FLUX_JOB_SIZE");
  if (!tasks) return tasks;
  const Result<std::uint32_t> nodes = number_of(environment, "FLUX_JOB_NNODES");
  if (!nodes) return nodes;
  if (*nodes == 0 || *tasks % *nodes != 0) {
    return Error{"FLUX_JOB_SIZE: '" + std::to_string(*tasks) + "' tasks cannot be spread evenly over FLUX_JOB_NNODES: '" +
                 std::to_string(*nodes) + "' nodes"};
  }
  is_assumed = *nodes > 1;
  return *tasks / *nodes;
}

Result<std::uint32_t> local_size_of(const Launcher& launcher, const Environment& environment, bool& is_assumed) {
  if (launcher.local_size != nullptr) return number_of(environment, launcher.local_size);
  if (std::string_view(launcher.name) == "Slurm") return slurm_local_size(environment);
  return flux_local_size(environment, is_assumed);
}

// Empty if nothing tells this launch from another one.
std::string job_id_of(const Launcher& launcher, const Environment& environment, const std::vector<Process>& ancestors) {
  std::string id;
  for (const char* name : launcher.job_id) {
    const std::string value = value_of(environment, name);
    if (value.empty()) {
      id.clear();
      break;
    }
    id += (id.empty() ? "" : ".") + value;
  }
  if (!id.empty()) return id;
  for (const Process& ancestor : ancestors) {
    if (has_process_name(launcher, ancestor)) {
      return "process " + std::to_string(ancestor.pid) + " started " + std::to_string(ancestor.start_ticks);
    }
  }
  return "";
}

}  // namespace

ProcessFacts own_process_facts() { return {.ancestors = read_ancestors(), .boot_id = read_boot_id()}; }

Result<Launch> find_launch(const Environment& environment, const ProcessFacts& facts) {
  const Launcher* launcher = innermost(environment, facts.ancestors);
  if (launcher == nullptr) return Error{"no launcher is known from the environment"};
  const std::string name = launcher->name;
  if (launcher->local_rank == nullptr) return Error{name + " launched this process and does not tell its position on the node"};

  Launch launch;
  const Result<std::uint32_t> rank = number_of(environment, launcher->local_rank);
  if (!rank) return Error{name + ": " + rank.error()};
  const Result<std::uint32_t> size = local_size_of(*launcher, environment, launch.size_is_assumed);
  if (!size) return Error{name + ": " + size.error()};
  if (*rank >= *size) {
    return Error{name + ": " + launcher->local_rank + ": '" + std::to_string(*rank) + "' is not below the " +
                 std::to_string(*size) + " ranks of this node"};
  }
  const std::string job_id = job_id_of(*launcher, environment, facts.ancestors);
  if (job_id.empty()) return Error{name + ": it tells no job id, and its process is not among the ancestors"};

  launch.launcher = name;
  launch.local_rank = *rank;
  launch.local_size = *size;
  launch.job_key = name + "/" + job_id + "/" + facts.boot_id;
  return launch;
}

const Process* find_launcher_process(const std::vector<Process>& ancestors) {
  const auto found = std::find_if(ancestors.begin(), ancestors.end(), [](const Process& process) {
    return std::any_of(known_launchers().begin(), known_launchers().end(),
                       [&](const Launcher& launcher) { return has_process_name(launcher, process); });
  });
  return found == ancestors.end() ? nullptr : &*found;
}

Result<std::uint32_t> tasks_on_node(std::string_view list, std::uint32_t node_index) {
  const Error malformed{"is not a list such as 4(x2),3"};
  std::uint64_t num_nodes = 0;
  std::optional<std::uint32_t> found;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view run = list.substr(begin, end - begin);
    const std::size_t open = run.find("(x");
    std::uint32_t tasks = 0;
    std::uint32_t repeats = 1;
    if (!parse_whole(run.substr(0, open), tasks)) return malformed;
    if (open != std::string_view::npos) {
      if (run.back() != ')' || !parse_whole(run.substr(open + 2, run.size() - open - 3), repeats)) return malformed;
    }
    num_nodes += repeats;
    if (!found && node_index < num_nodes) found = tasks;
    begin = end + 1;
  }
  if (!found) return Error{"has no node " + std::to_string(node_index)};
  return *found;
}

}  // namespace hierbar
