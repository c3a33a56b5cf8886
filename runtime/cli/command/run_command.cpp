// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "base/variables.hpp"
#include "cli/doctor/diagnosis.hpp"
#include "cli/instances/instances_command.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/mpi_option.hpp"
#include "cli/program/counted_run.hpp"
#include "cli/program/program.hpp"
#include "cli/program/run_settings.hpp"

namespace hierbar {
namespace {

struct RunOptions {
  InstanceOptions instances;
  std::string mpi;
  std::string report_file;
  bool quiet = false;
  bool verbose = false;
  bool require_active = false;
  bool dry_run = false;
};

// The line at the end: what was served, or why nothing was.
std::string summary(const CountedRun& run, const Program& program) {
  if (run.barriers.num_served() == 0)
    return "not active: " + explain_inactivity(run, program).words;
  return describe_served(run.barriers);
}

// Says what was served, and returns the exit code.
int judge(const RunOptions& options, const CountedRun& run, const Program& program) {
  const bool is_active = run.barriers.num_served() > 0;
  const bool fails = options.require_active && !is_active && run.exit_code == 0;
  if (!options.quiet || fails) std::cerr << "hierbar run: " << summary(run, program) << '\n';
  return fails ? kExitNotActive : run.exit_code;
}

// Starts the program, with the settings in this process's environment.
int start(const RunOptions& options, const RunSettings& settings, const Program& program) {
  const bool is_counted = !options.quiet || options.require_active;
  if (!is_counted) return become(settings.command);
  const Result<CountedRun> counted = ProgramRunner().run(settings.command);
  if (counted) return judge(options, *counted, program);
  if (!options.require_active)
    return become(settings.command);  // that nothing can be counted is no reason not to run
  std::cerr << "hierbar run: " << counted.error() << '\n';
  return kExitBadInput;
}

void tell(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cerr << "hierbar run: " << line << '\n';
}

int run(const RunOptions& options, const Program& program) {
  if (program.empty()) {
    throw CLI::ValidationError(
        "run", "no program; put it after '--', as in 'hierbar run -- mpiexec -n 4 ./app'");
  }
  ReportRequest report;
  if (!options.report_file.empty())
    report = accept(request_report(options.report_file), "--report", options.report_file,
                    kReportEndings);
  if (!options.quiet) tell(misspelt_variables());
  std::optional<InstancePlan> plan;
  if (!options.instances.num_instances.empty()) plan = plan_instances(options.instances, program);
  MachineFacts machine = read_machine_facts();
  machine.gives_own_cpus = plan && plan->shares.are_disjoint;
  const RunSettings settings =
      choose_run_settings(program, chosen_family(options.mpi, program), report, find_libraries(),
                          machine, own_environment());
  if (options.verbose || options.dry_run) tell(settings.notes);
  if (plan && (options.verbose || options.dry_run)) tell(notes_of(*plan));
  if (plan && !options.quiet) tell(plan->warnings);
  const InstanceManner manner{options.instances, settings, report, options.quiet,
                              options.require_active};
  if (options.dry_run) {
    std::cout << (plan ? shell_lines(*plan, manner)
                       : shell_line_with(settings.variables, settings.command) + '\n');
    return 0;
  }
  for (const RunSettings::Variable& variable : settings.variables)
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  if (options.verbose) setenv("HIERBAR_VERBOSE", "1", 0);
  // A program that does not exist is reported once, and by nobody else.
  if (find_in_path(settings.command.front()).empty()) return become(settings.command);
  return plan ? run_instance_plan(*plan, manner, program) : start(options, settings, program);
}

constexpr const char* kRunHelp =
    "hierbar run [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Prints one line at the end, on stderr: how many barriers were served, or why none was. "
    "--verbose also prints what is\n"
    "set. --quiet prints nothing, and the program then replaces this command. run sets:\n"
    "  LD_PRELOAD        the OpenMP runtime of this installation, and the shim for MPI_Barrier, "
    "before the present value.\n"
    "                    Where the program's MPI library is not known before it runs (scripts, "
    "Python), the shim is\n"
    "                    libhierbar_mpi_any.so. A program with no way to MPI gets none\n"
    "  LD_AUDIT          an audit module: a request for another OpenMP runtime gets this one "
    "(glibc 2.35 and later)\n"
    "  LD_LIBRARY_PATH   the directory of the same runtime, for its other names\n"
    "  KMP_BARRIER       hier\n"
    "  KMP_AFFINITY      a core for each thread of a team. Not if OMP_PLACES, OMP_PROC_BIND or "
    "GOMP_CPU_AFFINITY is set,\n"
    "                    or KMP_BARRIER names one of LLVM's own barriers\n"
    "  HIERBAR_BIND      share: KMP_AFFINITY is used only if the process has its own cpus, from "
    "its launcher, a batch system,\n"
    "                    or its share of the node. HIERBAR_BIND=always binds a process that has "
    "the node to itself\n"
    "  HIERBAR_PRIMARY   free: the initial thread moves to its core but stays unbound, and so does "
    "everything that it starts.\n"
    "                    HIERBAR_PRIMARY and HIERBAR_BIND are not set if one of the variables "
    "above or KMP_AFFINITY is set\n"
    "  KMP_INIT_AT_FORK  TRUE, so that forked processes can use OpenMP\n"
    "  HIERBAR_SESSIONS  shared, if MPICH's launcher starts more ranks than this node has cpus, "
    "and the kernel schedules\n"
    "                    each session as a group (autogroups)\n"
    "With --report also OMP_TOOL_LIBRARIES, HIERBAR_REPORT and HIERBAR_OUTPUT.\n"
    "A variable that is already set is left alone. That includes HIERBAR_PLACE, whose "
    "threads=share makes teams as large as\n"
    "their rank's share of the node. Open MPI's mpiexec gets -x for each variable, because it "
    "passes them to other nodes only\n"
    "on request; in commands with ':' this applies to the first program. Barriers are counted on "
    "this node, in processes that\n"
    "end normally.\n"
    "The exit code is the program's, 127 or 126 when it cannot be started, 2 for bad options, and "
    "with\n"
    "--require-active 3 when the program returned 0 and no barrier was served.\n"
    "\n";

constexpr const char* kRunExamples =
    "\n"
    "Examples:\n"
    "  hierbar run -- mpiexec -n 4 ./app\n"
    "  OMP_NUM_THREADS=8 hierbar run -- ./openmp_program\n"
    "  hierbar run --require-active -- python3 train.py\n"
    "  hierbar run --report cost.html -- ./app\n"
    "  hierbar run -- srun -n 4 ./wrapper.sh\n"
    "  hierbar run --dry-run -- mpiexec -n 4 ./app > job.sh\n"
    "  hierbar run --instances 4 --membind -- python3 server.py\n"
    "  hierbar run --instances 32 --output-dir results -- sh -c 'exec ./app "
    "<input.$HIERBAR_INSTANCE'\n";

}  // namespace

void add_run_command(CLI::App& app, const Program& program) {
  CLI::App* command =
      app.add_subcommand("run", "Run a program or an MPI launcher with hierbar's barriers");
  auto options = std::make_shared<RunOptions>();
  add_mpi_option(*command, options->mpi);
  command
      ->add_option("--report", options->report_file,
                   "Write what barriers cost, for threads and ranks, to FILE; its ending selects "
                   "the format:\n"
                   ".txt, .json, .csv, .html, .trace.json (Perfetto), .lstopo.xml. In the name %h "
                   "is the host,\n"
                   "%p the process, %r the rank")
      ->type_name("FILE");
  CLI::Option* quiet = command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  command
      ->add_flag("-v,--verbose", options->verbose, "Print what is set, and set HIERBAR_VERBOSE=1")
      ->excludes(quiet);
  command->add_flag("--require-active", options->require_active,
                    "Fail with status 3 if no barrier was served");
  add_instance_options(*command, options->instances);
  command->add_flag("--dry-run", options->dry_run,
                    "Print the command with its environment, for a shell, instead of running it");
  command->footer(std::string(kRunHelp) + kInstancesHelp + kRunExamples);
  command->callback([options, &program] { throw CLI::RuntimeError(run(*options, program)); });
}

}  // namespace hierbar
