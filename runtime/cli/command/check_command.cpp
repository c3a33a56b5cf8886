// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/process.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/placement/job.hpp"
#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMaxWaitSeconds = 3600;

struct CheckOptions {
  std::string threads;
  std::string wait = "10";
  std::string job;
  std::string description;
  bool only = false;
  bool quiet = false;
  bool json = false;
};

void print_text(std::ostream& out, const NodeView& node, const std::vector<Finding>& findings) {
  std::uint64_t threads = 0;
  for (const RankView& rank : node.ranks) threads += rank.team.num_threads;
  out << "hierbar check: " << host_name() << ": " << node.ranks.size()
      << (node.ranks.size() == 1 ? " rank, " : " ranks, ") << threads
      << (threads == 1 ? " thread: " : " threads: ");
  if (findings.empty()) {
    out << "fine\n";
    return;
  }
  out << findings.size() << (findings.size() == 1 ? " finding\n" : " findings\n");
  for (const Finding& finding : findings) {
    out << "  " << finding_name(finding.kind) << ": "
        << (finding.ranks.size() == 1 ? "rank " : "ranks ") << join_ranks(finding.ranks) << ": "
        << finding.what << "\n    where: " << finding.where << "\n    do:    " << finding.advice
        << '\n';
  }
}

nlohmann::ordered_json findings_as_json(const NodeView& node,
                                        const std::vector<Finding>& findings) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const RankView& rank : node.ranks) {
    nlohmann::ordered_json thread_cpus = nlohmann::ordered_json::array();
    for (const CpuSet& cpus : rank.team.cpus) thread_cpus.push_back(cpus.to_string());
    ranks.push_back({{"rank", rank.rank},
                     {"cpus", rank.mask.to_string()},
                     {"threads", rank.team.num_threads},
                     {"bound", rank.team.is_bound},
                     {"thread_cpus", thread_cpus}});
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"kind", finding_name(finding.kind)},
                    {"ranks", finding.ranks},
                    {"what", finding.what},
                    {"where", finding.where},
                    {"advice", finding.advice}});
  }
  return {{"host", host_name()},
          {"verdict", findings.empty() ? "fine" : "findings"},
          {"ranks", ranks},
          {"findings", list}};
}

std::chrono::milliseconds wait_time(const CheckOptions& options) {
  const std::uint32_t seconds = parse_count(options.wait, kMaxWaitSeconds);
  if (seconds == 0)
    refuse("--wait", options.wait, "not a valid time",
           "1 to " + std::to_string(kMaxWaitSeconds) + " seconds");
  return std::chrono::seconds(seconds);
}

int judge(const CheckOptions& options, const NodeView& node, bool is_first_node,
          std::ostream& out) {
  const std::vector<Finding> findings = find_problems(node);
  // If all is fine on all nodes, only the first node says so.
  const bool worth_saying = !findings.empty() || (is_first_node && !options.quiet);
  if (options.json) {
    out << findings_as_json(node, findings).dump(2) << '\n';
  } else if (worth_saying) {
    print_text(out, node, findings);
  }
  return findings.empty() ? kExitFine : kExitFindings;
}

int report(const CLI::App& command, const CheckOptions& options, const NodeJob& job,
           std::ostream& out) {
  const Result<std::vector<NodeRank>> ranks = job.wait_for_ranks(wait_time(options));
  if (!ranks) {
    std::cerr << "hierbar check: " << host_name() << ": could not check: " << ranks.error() << '\n';
    return kExitCouldNotCheck;
  }
  const Machine machine = load_chosen_machine(command, options.description);
  std::vector<std::string> remarks;
  const NodeView node{.machine = machine,
                      .ranks = view_ranks(machine, *ranks, options.threads, remarks),
                      .grant = job.grant(),
                      .quota = read_cpu_quota()};
  for (const std::string& remark : remarks) std::cerr << "hierbar check: " << remark << '\n';
  return judge(options, node, job.is_first_node(), out);
}

// Judges a running job by where its threads are now.
int report_running(const CLI::App& command, const CheckOptions& options) {
  const int pid = parse_pid("--job", options.job);
  const std::vector<PlacedThread> threads =
      accept(threads_of_job(pid), "--job", options.job, kAllowedJobs);
  const Machine machine = load_chosen_machine(command, options.description);
  return judge(options, {.machine = machine, .ranks = ranks_of_threads(threads)}, true, std::cout);
}

int check(const CLI::App& command, const CheckOptions& options, const Program& program) {
  if (command.count("--threads") > 0 && parse_count(options.threads, kMaxThreads) == 0) {
    refuse("-t", options.threads, "no such number of threads",
           "1 to " + std::to_string(kMaxThreads));
  }
  if (command.count("--job") > 0) {
    if (!program.empty()) throw CLI::ValidationError("check", "--job does not start a program");
    return report_running(command, options);
  }
  const bool starts_program = !program.empty() && !options.only;
  // stdout belongs to the program.
  std::ostream& out = starts_program ? std::cerr : std::cout;
  int verdict = kExitFine;
  if (const Result<NodeJob> job = NodeJob::find(); !job) {
    std::cerr << "hierbar check: " << host_name() << ": could not check: " << job.error() << '\n';
    verdict = kExitCouldNotCheck;
  } else if (job->is_speaker()) {
    verdict = report(command, options, *job, out);
    job->wait_for_listeners(wait_time(options));
  } else {
    job->listen(wait_time(options));
  }
  return starts_program ? become(program) : verdict;
}

constexpr const char* kCheckHelp =
    "[LAUNCHER ...] hierbar check [OPTIONS] [-- PROGRAM [ARGUMENT...]]\n"
    "\n"
    "Put it before the program and after the launcher. It predicts the OpenMP team that each rank "
    "of the node would get from\n"
    "its binding, OMP_NUM_THREADS, OMP_PLACES and OMP_PROC_BIND, and under KMP_BARRIER=hier what "
    "HIERBAR_PLACE changes. It\n"
    "cannot see what a program or its libraries bind later. One rank of each node reports each "
    "problem, its place and a\n"
    "remedy; then all ranks become the program.\n"
    "\n"
    "Findings:\n"
    "  stacked-threads    more threads than cpus, in one rank or because all ranks place threads "
    "from the same cpu on\n"
    "  overlapping-ranks  ranks that may run on the same cpus\n"
    "  split-package      a rank bound to parts of several packages without need\n"
    "  split-numa         a rank bound to parts of several NUMA nodes without need\n"
    "  smt-sharing        two threads on one core's hardware threads, while there are cores for "
    "all\n"
    "  offline-cpus       a binding that names cpus which are not online\n"
    "  foreign-cpus       cpus that the launcher was not given, or cpus in OMP_PLACES that the "
    "rank may not use\n"
    "  quota              more threads than the cpu time that control groups allow\n"
    "\n"
    "Output goes to stdout, or to stderr if a program is started. Exit codes: 0 fine, 1 findings, "
    "2 could not check. If a\n"
    "program was started, its exit code; 127 or 126 if it could not be started. With --only, ranks "
    "that do not report return 0.\n"
    "\n"
    "Examples:\n"
    "  mpiexec -n 4 hierbar check -- ./app\n"
    "  mpiexec -bind-to core -n 4 hierbar check --only -t 4 && mpiexec -bind-to core -n 4 ./app\n"
    "  srun -n 4 -c 4 hierbar check --json --only\n"
    "  OMP_NUM_THREADS=8 hierbar check -- ./app\n"
    "  hierbar check --job $(pidof mpiexec.hydra)\n";

}  // namespace

void add_check_command(CLI::App& app, const Program& program) {
  CLI::App* command =
      app.add_subcommand("check", "Check how ranks and threads are bound, then start the program");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("-t,--threads", options->threads,
                   "Threads of each rank; default: OMP_NUM_THREADS, else one for each cpu")
      ->type_name("T");
  command
      ->add_option("--wait", options->wait,
                   "How long to wait for the next rank of the node; default: 10")
      ->type_name("SECONDS");
  command
      ->add_option("--job", options->job,
                   "The running ranks below this process, a launcher's on this node: check them as "
                   "they are now")
      ->type_name("PID");
  command->add_flag("--only", options->only, "Do not start the program");
  command->add_flag("--quiet", options->quiet, "Print nothing if all is fine");
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json, "Print JSON, one document for each node");
  command->footer(kCheckHelp);
  command->callback([command, options, &program] {
    throw CLI::RuntimeError(check(*command, *options, program));
  });
}

}  // namespace hierbar
