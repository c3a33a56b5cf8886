// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/instances/instance_shares.hpp"
#include "cli/program/program.hpp"
#include "cli/program/run_settings.hpp"
#include "topology/memory_binding.hpp"

namespace hierbar {

// `hierbar run --instances N`: copies of a program side by side, each on its part of the machine.

struct InstanceOptions {
  std::string num_instances;  // empty: there are none
  std::string num_threads;
  std::string output_directory;
  bool binds_memory = false;
};

// `options` must live as long as the command.
void add_instance_options(CLI::App& command, InstanceOptions& options);

// The part of `hierbar run --help` about them.
extern const char* const kInstancesHelp;

// Who gets what.
struct InstancePlan {
  InstanceShares shares;
  bool sets_threads = true;               // OMP_NUM_THREADS, unless the user has
  std::optional<MemoryBinding> memory;    // nothing: memory is not bound
  std::vector<CpuSet> memory_nodes = {};  // by instance
  std::vector<std::string> warnings = {};
};

// Ends the command with a message if the options do not fit this machine, this program or the
// launcher behind this process.
InstancePlan plan_instances(const InstanceOptions& options, const Program& program);

// A line for each instance: what it gets.
std::vector<std::string> notes_of(const InstancePlan& plan);

// What `hierbar run` makes of its options for all programs.
struct InstanceManner {
  const InstanceOptions& options;
  const RunSettings& settings;
  const ReportRequest& report;
  bool is_quiet = false;
  bool requires_active = false;
};

// The instances as a shell would start them.
std::string shell_lines(const InstancePlan& plan, const InstanceManner& manner);

// Runs the instances, says what was served, and returns the exit code. This process's environment
// has the settings already; `program` is the command without them.
int run_instance_plan(const InstancePlan& plan, const InstanceManner& manner,
                      const Program& program);

}  // namespace hierbar
