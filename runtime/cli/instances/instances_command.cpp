// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/instances_command.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>

#include "base/served_file.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/commands.hpp"
#include "cli/doctor/diagnosis.hpp"
#include "cli/instances/instance_run.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/program/counted_run.hpp"
#include "placement/decision/findings.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "placement/evidence/launcher.hpp"
#include "placement/evidence/place_setting.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

constexpr const char* kInstancesOption = "--instances";
constexpr const char* kInstanceThreadsOption = "--threads-per-instance";
constexpr const char* kOutputDirectoryOption = "--output-dir";
constexpr const char* kThreadsVariable = "OMP_NUM_THREADS";
constexpr const char* kInstanceVariable = "HIERBAR_INSTANCE";
constexpr const char* kNumInstancesVariable = "HIERBAR_INSTANCES";
constexpr std::uint32_t kMaxInstances = 4096;

std::string allowed_count(std::uint32_t most) { return "1 to " + std::to_string(most); }

// A launcher in the command starts its ranks elsewhere, or on cpus of its own choice. Ranks of a
// launcher outside that were not bound would each share out the same cpus.
void refuse_launchers(const InstanceOptions& options, const Program& program, const CpuSet& mask,
                      const CpuSet& kernel) {
  for (const std::string& word : find_started_program(program).wrappers) {
    if (!is_mpi_launcher(word) && !is_srun(word)) continue;
    refuse(kInstancesOption, options.num_instances,
           "'" + word + "' starts ranks, on cpus that it chooses itself",
           "a program without a launcher; 'hierbar place' has bindings for MPI jobs");
  }
  const Result<Launch> launch = find_launch(own_environment(), own_process_facts());
  if (!launch || launch->local_size == 1 || mask != kernel) return;
  refuse(kInstancesOption, options.num_instances,
         std::to_string(launch->local_size) + " ranks of " + launch->launcher +
             " run this command on this node, and each would share out the same cpus",
         "one rank on each node, or ranks that the launcher binds to different cpus");
}

// The threads of an instance: the option's number or else the user's variable; 0: what fits.
std::uint32_t asked_threads(const InstanceOptions& options, const Environment& environment) {
  if (options.num_threads.empty()) {
    const std::string value = value_of(environment, kThreadsVariable);
    return parse_count(value.substr(0, value.find(',')), kMaxThreads);
  }
  const std::uint32_t number = parse_count(options.num_threads, kMaxThreads);
  if (number == 0)
    refuse(kInstanceThreadsOption, options.num_threads, "no such number of threads",
           "1 to the number of cpus in an instance's share");
  return number;
}

void refuse_too_many_threads(const InstanceOptions& options, const InstanceShares& shares) {
  const std::uint32_t most = shares.fewest_cpus();
  if (options.num_threads.empty() || shares.shares.front().num_threads <= most) return;
  refuse(kInstanceThreadsOption, options.num_threads,
         "the smallest of " + plural(shares.shares.size(), "share") + " has " + plural(most, "cpu"),
         allowed_count(most) + "; " + kThreadsVariable + " in the environment is not limited");
}

void bind_memory(InstancePlan& plan) {
  Result<MemoryBinding> memory = MemoryBinding::load();
  if (!memory) throw CLI::ValidationError("--membind", memory.error());
  if (memory->all_nodes().count() == 1) {
    plan.warnings.emplace_back("--membind has no effect: there is one NUMA node");
    return;
  }
  for (std::size_t i = 0; i < plan.shares.shares.size(); ++i) {
    const CpuSet& cpus = plan.shares.shares[i].cpus;
    plan.memory_nodes.push_back(memory->nodes_near(cpus));
    if (plan.memory_nodes.back().empty())
      plan.warnings.push_back("--membind: no memory is near cpus " + cpus.to_string() +
                              ", so that of instance " + std::to_string(i) + " is not bound");
  }
  plan.memory = *std::move(memory);
}

// The variables that instances do not have in common.
std::vector<RunSettings::Variable> variables_of(const InstancePlan& plan,
                                                const InstanceManner& manner, std::size_t index) {
  const std::vector<InstanceShare>& shares = plan.shares.shares;
  std::vector<RunSettings::Variable> variables = {
      {kInstanceVariable, std::to_string(index)},
      {kNumInstancesVariable, std::to_string(shares.size())},
      // It has its share already. Behind a launcher each would take the whole rank's.
      {kPlaceVariable, "off"}};
  if (plan.sets_threads)
    variables.push_back({kThreadsVariable, std::to_string(shares[index].num_threads)});
  for (const RunSettings::Variable& common : manner.settings.variables) {
    if (common.name == "HIERBAR_OUTPUT" && common.value == manner.report.file)
      variables.push_back({common.name, report_of_instance(manner.report, index)});
  }
  return variables;
}

void make_output_directory(const std::string& directory) {
  if (mkdir(directory.c_str(), 0777) == 0 || errno == EEXIST) return;
  refuse(kOutputDirectoryOption, directory, std::strerror(errno),
         "a directory, or a name for one in a directory that can be written to");
}

using ServedFiles = std::vector<std::unique_ptr<ServedBarriersFile>>;

InstancesRequest request_of(const InstancePlan& plan, const InstanceManner& manner,
                            const ServedFiles& served) {
  InstancesRequest request{.program = manner.settings.command,
                           .instances = {},
                           .memory = plan.memory,
                           .output_directory = manner.options.output_directory};
  for (std::size_t i = 0; i < plan.shares.shares.size(); ++i) {
    InstanceSetting instance{.cpus = plan.shares.shares[i].cpus,
                             .memory_nodes = plan.memory ? plan.memory_nodes[i] : CpuSet(),
                             .variables = {}};
    for (const RunSettings::Variable& variable : variables_of(plan, manner, i))
      instance.variables.emplace_back(variable.name, variable.value);
    if (!served.empty()) instance.variables.emplace_back(kServedFileVariable, served[i]->path());
    request.instances.push_back(std::move(instance));
  }
  return request;
}

// The line at the end, which adds up all instances: what differs between them are those that served
// nothing. `num_idle` counts these.
std::string sum_up(const InstancesRun& run, const ServedFiles& files, const Program& program,
                   std::size_t& num_idle) {
  ServedBarriers sum;
  std::map<std::string, std::vector<std::uint32_t>> idle;
  for (std::size_t i = 0; i < run.ends.size(); ++i) {
    const CountedRun one{.exit_code = run.ends[i].exit_code,
                         .signal = run.ends[i].signal,
                         .barriers = files[i]->read()};
    sum += one.barriers;
    if (one.barriers.num_served() > 0) continue;
    idle[explain_inactivity(one, program).words].push_back(static_cast<std::uint32_t>(i));
    ++num_idle;
  }
  std::string text = plural(files.size(), "instance");
  if (sum.num_served() > 0) text += ": " + describe_served(sum);
  for (const auto& [reason, instances] : idle) {
    const bool is_all = instances.size() == files.size();
    const bool is_one = instances.size() == 1;
    text += is_all ? ": "
                   : std::string("; ") + (is_one ? "instance " : "instances ") +
                         join_ranks(instances) + " ";
    text += "not active: " + reason;
  }
  return text;
}

}  // namespace

const char* const kInstancesHelp =
    "With --instances N, N copies of the program run side by side. The cpus that this command may "
    "use are shared out among\n"
    "them as among N ranks of a node ('hierbar place'), and each is bound to its share. It also "
    "has\n"
    "  HIERBAR_INSTANCE   its number, from 0 on; HIERBAR_INSTANCES is N\n"
    "  OMP_NUM_THREADS    as many threads as its share has cores, or --threads-per-instance\n"
    "  HIERBAR_BIND       always, if no two instances have the same cpus\n"
    "  HIERBAR_PLACE      off\n"
    "  HIERBAR_OUTPUT     with --report cost.html: cost.0.html, cost.1.html, ...\n"
    "Its lines begin with its number, as in '[2] text', unless they go to files. None can read "
    "stdin. When one fails, the\n"
    "others are ended by SIGTERM, and after 5 s by SIGKILL; its exit code is the command's. What "
    "an instance leaves behind in\n"
    "its process group is ended too. The line at the end adds up all instances; --require-active "
    "asks for barriers in each.\n";

void add_instance_options(CLI::App& command, InstanceOptions& options) {
  CLI::Option* const instances =
      command
          .add_option(kInstancesOption, options.num_instances,
                      "Copies of the program to run side by side, each on its share of the cpus, "
                      "see below")
          ->type_name("N");
  command
      .add_option(kInstanceThreadsOption, options.num_threads,
                  "Threads of each instance; default: one for each core of its share")
      ->type_name("T")
      ->needs(instances);
  command
      .add_option(kOutputDirectoryOption, options.output_directory,
                  "Directory for what instances print: instance.K.out and instance.K.err of each "
                  "instance K")
      ->type_name("DIR")
      ->needs(instances);
  command
      .add_flag(
          "--membind", options.binds_memory,
          "Bind memory strictly: that of each instance comes from the NUMA nodes of its share "
          "only")
      ->needs(instances);
}

InstancePlan plan_instances(const InstanceOptions& options, const Program& program) {
  const std::uint32_t num_instances = parse_count(options.num_instances, kMaxInstances);
  if (num_instances == 0)
    refuse(kInstancesOption, options.num_instances, "no such number of instances",
           allowed_count(kMaxInstances));
  const auto accept_machine = [&](auto result) {
    return accept(std::move(result), kInstancesOption, options.num_instances,
                  "any number on a machine that can be read");
  };
  const Environment environment = own_environment();
  const Machine machine = accept_machine(load_live_machine());
  const CpuSet mask = accept_machine(own_cpus());
  const PoolEvidence evidence = accept_machine(read_pool_evidence(environment, {}));
  refuse_launchers(options, program, mask, evidence.kernel);
  const CpuPool pool = accept_machine(instance_pool(machine, mask, evidence));
  InstancePlan plan{.shares = share_among_instances(machine, pool, num_instances,
                                                    asked_threads(options, environment)),
                    .sets_threads = !options.num_threads.empty() ||
                                    value_of(environment, kThreadsVariable).empty(),
                    .memory = std::nullopt};
  refuse_too_many_threads(options, plan.shares);
  plan.warnings = machine.warnings;
  plan.warnings.insert(plan.warnings.end(), plan.shares.warnings.begin(),
                       plan.shares.warnings.end());
  if (options.binds_memory) bind_memory(plan);
  return plan;
}

std::vector<std::string> notes_of(const InstancePlan& plan) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < plan.shares.shares.size(); ++i) {
    const InstanceShare& share = plan.shares.shares[i];
    std::string note = "instance " + std::to_string(i) + ": cpus " + share.cpus.to_string();
    if (plan.memory && !plan.memory_nodes[i].empty())
      note += ", memory of NUMA nodes " + plan.memory_nodes[i].to_string();
    note += ", " + plural(share.num_threads, "thread");
    if (!plan.sets_threads) note += std::string(", as ") + kThreadsVariable + " says";
    notes.push_back(std::move(note));
  }
  return notes;
}

std::string shell_lines(const InstancePlan& plan, const InstanceManner& manner) {
  std::string lines;
  for (std::size_t i = 0; i < plan.shares.shares.size(); ++i) {
    std::vector<RunSettings::Variable> variables = variables_of(plan, manner, i);
    for (const RunSettings::Variable& common : manner.settings.variables) {
      if (std::none_of(variables.begin(), variables.end(),
                       [&](const auto& own) { return own.name == common.name; }))
        variables.push_back(common);
    }
    const std::string cpus = plan.shares.shares[i].cpus.to_string();
    const bool binds_memory = plan.memory && !plan.memory_nodes[i].empty();
    Program bound = {"taskset", "-c", cpus};
    if (binds_memory)
      bound = {"numactl", "--physcpubind=" + cpus, "--membind=" + plan.memory_nodes[i].to_string(),
               "--"};
    const Program& command = manner.settings.command;
    bound.insert(bound.end(), command.begin(), command.end());
    lines += shell_line_with(variables, bound);
    if (const std::string& directory = manner.options.output_directory; !directory.empty()) {
      lines += " >" + shell_quoted(instance_file(directory, i, "out")) + " 2>" +
               shell_quoted(instance_file(directory, i, "err"));
    }
    lines += " </dev/null &\n";
  }
  return lines + "wait\n";
}

int run_instance_plan(const InstancePlan& plan, const InstanceManner& manner,
                      const Program& program) {
  if (!manner.options.output_directory.empty())
    make_output_directory(manner.options.output_directory);
  const std::size_t num_instances = plan.shares.shares.size();
  const bool is_counted = !manner.is_quiet || manner.requires_active;
  ServedFiles served;
  while (is_counted && served.size() < num_instances) {
    served.push_back(std::make_unique<ServedBarriersFile>());
    if (const std::string& problem = served.back()->problem(); !problem.empty()) {
      // That nothing can be counted is no reason not to run.
      std::cerr << "hierbar run: " << problem << '\n';
      if (manner.requires_active) return kExitBadInput;
      served.clear();
      break;
    }
  }
  const Result<InstancesRun> run = run_instances(request_of(plan, manner, served));
  if (!run) {
    std::cerr << "hierbar run: " << run.error() << '\n';
    return kExitBadInput;
  }
  if (served.empty()) return run->exit_code;
  std::size_t num_idle = 0;
  const std::string text = sum_up(*run, served, program, num_idle);
  const bool fails = manner.requires_active && num_idle > 0 && run->exit_code == 0;
  if (!manner.is_quiet || fails) std::cerr << "hierbar run: " << text << '\n';
  return fails ? kExitNotActive : run->exit_code;
}

}  // namespace hierbar
