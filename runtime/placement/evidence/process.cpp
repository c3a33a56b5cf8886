// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/process.hpp"

#include <unistd.h>

#include <string_view>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

bool read_status(const std::string& directory, Process& process) {
  const std::string text = read_whole_file(directory + "/status").value_or("");
  bool has_user = false;
  bool has_cpus = false;
  for (std::string_view rest = text; !rest.empty() && !(has_user && has_cpus);) {
    std::string_view fields = take_line(rest);
    if (fields.starts_with("Uid:")) {
      take_word(fields);
      take_word(fields);  // the real one
      has_user = parse_whole(take_word(fields), process.user);
    } else if (fields.starts_with("Cpus_allowed_list:")) {
      take_word(fields);
      const Result<CpuSet> cpus = CpuSet::parse(take_word(fields));
      has_cpus = cpus.ok();
      if (has_cpus) process.cpus = *cpus;
    }
  }
  return has_user && has_cpus;
}

}  // namespace

std::optional<Process> read_process(int pid, const std::string& proc) {
  const std::optional<ProcessStat> stat = read_process_stat(pid, proc);
  if (!stat) return std::nullopt;
  Process process;
  process.pid = pid;
  process.parent = stat->parent;
  process.start_ticks = stat->start_ticks;
  process.name = stat->name;
  if (!read_status(proc + "/" + std::to_string(pid), process)) return std::nullopt;
  return process;
}

std::vector<Process> read_ancestors(const std::string& proc) {
  std::vector<Process> ancestors;
  int pid = getppid();
  while (pid > 0 && ancestors.size() < kMaxAncestors) {
    const std::optional<Process> process = read_process(pid, proc);
    if (!process) break;
    ancestors.push_back(*process);
    pid = process->parent;
  }
  return ancestors;
}

}  // namespace hierbar
