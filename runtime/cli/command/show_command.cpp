// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/process.hpp"
#include "base/trusted_variable.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/placement/job.hpp"
#include "topology/export/lstopo_xml.hpp"

namespace hierbar {
namespace {

constexpr std::chrono::seconds kWait{10};
constexpr std::string_view kHostMark = "%h";

struct ShowOptions {
  std::string pid;
  std::string job;
  std::string xml;
  std::string description;
  bool json = false;
};

// --- 1. Output

struct UnitColumn {
  const char* title;
  const char* key;
  Level level;
};
constexpr UnitColumn kUnitColumns[] = {{"core", "cores", Level::kCore},
                                       {"L3", "l3", Level::kL3},
                                       {"NUMA", "numa", Level::kNuma},
                                       {"package", "packages", Level::kPackage}};

std::string sharers_text(const std::vector<PlacedThread>& threads, std::size_t index) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::size_t> others = sharers(threads, index);
  std::string text;
  for (std::size_t i = 0; i < std::min(others.size(), kMost); ++i)
    text += (i == 0 ? "" : " ") + thread_label(threads[others[i]]);
  if (others.size() > kMost) text += " +" + std::to_string(others.size() - kMost);
  return others.empty() ? "-" : text;
}

// Left-aligned columns, as wide as their widest cell.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      out << "  " << std::left << std::setw(static_cast<int>(widths[i])) << row[i];
    out << "  " << row.back() << '\n';
  }
}

void print_text(std::ostream& out, const Machine& machine,
                const std::vector<PlacedThread>& threads) {
  const bool is_live = threads.front().pid != 0;
  std::vector<std::vector<std::string>> rows(1, {"rank", "thread"});
  if (is_live) rows.front().insert(rows.front().end(), {"pid", "tid", "name"});
  rows.front().push_back("cpus");
  for (const UnitColumn& column : kUnitColumns) rows.front().push_back(column.title);
  rows.front().push_back("shares cpus with");
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const PlacedThread& thread = threads[i];
    std::vector<std::string> row = {thread.rank ? std::to_string(*thread.rank) : "-",
                                    std::to_string(thread.thread)};
    if (is_live)
      row.insert(row.end(), {std::to_string(thread.pid), std::to_string(thread.tid), thread.name});
    row.push_back(thread.cpus.to_string());
    for (const UnitColumn& column : kUnitColumns)
      row.push_back(touched_units(machine, thread.cpus, column.level));
    row.push_back(sharers_text(threads, i));
    rows.push_back(std::move(row));
  }
  out << host_name() << ": " << threads.size()
      << (threads.size() == 1 ? " thread on " : " threads on ") << machine.name
      << (is_live ? "" : ", as they would be started") << '\n';
  print_table(out, rows);
}

nlohmann::ordered_json threads_as_json(const Machine& machine,
                                       const std::vector<PlacedThread>& threads) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const PlacedThread& thread = threads[i];
    nlohmann::ordered_json one = {
        {"rank", thread.rank ? nlohmann::ordered_json(*thread.rank) : nullptr},
        {"thread", thread.thread}};
    if (thread.pid != 0)
      one.update({{"pid", thread.pid}, {"tid", thread.tid}, {"name", thread.name}});
    one["cpus"] = thread.cpus.to_string();
    for (const UnitColumn& column : kUnitColumns)
      one[column.key] = touched_units(machine, thread.cpus, column.level);
    one["shares_with"] = nlohmann::ordered_json::array();
    for (const std::size_t other : sharers(threads, i))
      one["shares_with"].push_back(thread_label(threads[other]));
    list.push_back(std::move(one));
  }
  return {{"host", host_name()},
          {"machine", machine.name},
          {"live", threads.front().pid != 0},
          {"threads", list}};
}

void write_xml(const CLI::App& command, const ShowOptions& options,
               const std::vector<PlacedThread>& threads) {
  std::vector<MarkedCpus> marks;
  for (const PlacedThread& thread : threads) {
    const std::string process = thread.rank ? "rank " + std::to_string(*thread.rank)
                                            : "process " + std::to_string(thread.pid);
    marks.push_back({process + " thread " + std::to_string(thread.thread),
                     thread.rank ? *thread.rank : static_cast<unsigned>(thread.pid), thread.cpus});
  }
  const char* variable = trusted_variable("HIERBAR_TOPOLOGY");
  const std::string other = variable == nullptr ? "" : variable;
  std::string path = options.xml;
  if (const std::size_t at = path.find(kHostMark); at != std::string::npos)
    path.replace(at, kHostMark.size(), host_name());
  const std::string problem =
      write_lstopo_xml(path, command.count("--topology") > 0 ? options.description : other, marks);
  if (!problem.empty()) refuse("--lstopo", options.xml, problem, "a file that can be written");
}

void print(const CLI::App& command, const ShowOptions& options, const Machine& machine,
           const std::vector<PlacedThread>& threads, bool is_first_node, std::ostream& out) {
  if (command.count("--lstopo") > 0 &&
      (is_first_node || options.xml.find(kHostMark) != std::string::npos)) {
    write_xml(command, options, threads);
  }
  if (options.json) {
    out << threads_as_json(machine, threads).dump(2) << '\n';
  } else {
    print_text(out, machine, threads);
  }
}

// --- 2. Commands

void show_live(const CLI::App& command, const ShowOptions& options) {
  const bool one = command.count("--pid") > 0;
  const std::string& text = one ? options.pid : options.job;
  const int pid = parse_pid(one ? "--pid" : "--job", text);
  const std::vector<PlacedThread> threads =
      accept(one ? threads_of_process(pid) : threads_of_job(pid), one ? "--pid" : "--job", text,
             one ? "a running process" : kAllowedJobs);
  print(command, options, load_chosen_machine(command, options.description), threads, true,
        std::cout);
}

// For a command that a launcher starts in place of a program. Returns the exit code.
int show_launched(const CLI::App& command, const ShowOptions& options, std::ostream& out) {
  const Result<NodeJob> job = NodeJob::find();
  const Result<std::vector<NodeRank>> ranks = !job                ? Error{job.error()}
                                              : job->is_speaker() ? job->wait_for_ranks(kWait)
                                                                  : std::vector<NodeRank>{};
  if (!ranks) {
    std::cerr << "hierbar show: " << host_name() << ": " << ranks.error() << '\n';
    return kExitBadInput;
  }
  if (!job->is_speaker()) {
    job->listen(kWait);
    return 0;
  }
  const Machine machine = load_chosen_machine(command, options.description);
  std::vector<std::string> remarks;
  const std::vector<PlacedThread> threads =
      predicted_threads(view_ranks(machine, *ranks, "", remarks));
  for (const std::string& remark : remarks) std::cerr << "hierbar show: " << remark << '\n';
  print(command, options, machine, threads, job->is_first_node(), out);
  job->wait_for_listeners(kWait);
  return 0;
}

int show(const CLI::App& command, const ShowOptions& options, const Program& program) {
  if (command.count("--pid") + command.count("--job") > 0) {
    if (!program.empty())
      throw CLI::ValidationError("show", "--pid and --job do not start a program");
    show_live(command, options);
    return 0;
  }
  // stdout belongs to the program.
  const int result = show_launched(command, options, program.empty() ? std::cout : std::cerr);
  return program.empty() ? result : become(program);
}

constexpr const char* kShowHelp =
    "[LAUNCHER ...] hierbar show [OPTIONS] [-- PROGRAM [ARGUMENT...]]\n"
    "hierbar show --pid PID | --job PID [OPTIONS]\n"
    "\n"
    "Started in place of a program, it shows the threads that OpenMP would start in each rank of "
    "the node. They follow from\n"
    "the rank's binding, OMP_NUM_THREADS, OMP_PLACES and OMP_PROC_BIND, and under KMP_BARRIER=hier "
    "also from HIERBAR_PLACE.\n"
    "One rank of each node prints the table; then all ranks become the program if one is given "
    "(the table then goes to\n"
    "stderr). With --pid or --job it shows the existing threads, including those of MPI and other "
    "libraries, in the order in\n"
    "which they were made.\n"
    "\n"
    "Cores, L3 caches, NUMA nodes and packages are numbered from 0 in the order of the tree "
    "('hierbar topo --all'); 0.1 is thread\n"
    "1 of rank 0. 'hierbar check' judges what this shows.\n"
    "\n"
    "Examples:\n"
    "  mpiexec -n 4 hierbar show\n"
    "  mpiexec -n 4 hierbar show --lstopo job.xml -- ./app; lstopo --input job.xml\n"
    "  hierbar show --pid $(pidof app)\n"
    "  hierbar show --job $(pidof mpiexec.hydra) --json\n";

}  // namespace

void add_show_command(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "show", "Show where each rank's threads run: of a job, or of one about to be started");
  auto options = std::make_shared<ShowOptions>();
  CLI::Option* pid =
      command->add_option("--pid", options->pid, "A running process: show all its threads")
          ->type_name("PID");
  command
      ->add_option(
          "--job", options->job,
          "The running ranks below this process, a launcher's on this node: show all their threads")
      ->type_name("PID")
      ->excludes(pid);
  command
      ->add_option("--lstopo", options->xml,
                   "Write the machine to this file too, with the threads on it, a colour for each "
                   "rank, for 'lstopo --input FILE'. %h is the\n"
                   "node's name; without it only the first node of a job writes")
      ->type_name("FILE");
  refuse_name(*command, "--lstopo-xml", "--lstopo");
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kShowHelp);
  command->callback(
      [command, options, &program] { throw CLI::RuntimeError(show(*command, *options, program)); });
}

}  // namespace hierbar
