// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>
#include "cli/commands.hpp"

#include <cstring>
#include <filesystem>
#include <iosfwd>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "base/launchers.hpp"
#include "base/process.hpp"
#include "cli/doctor/bug_report.hpp"
#include "cli/doctor/diagnosis.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/placement/job.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

// Variables that decide about runtimes, teams, binding and barriers.
constexpr const char* kReportedVariables[] = {
    "LD_PRELOAD",          "LD_AUDIT",          "LD_LIBRARY_PATH", "KMP_BARRIER",
    "KMP_AFFINITY",        "KMP_INIT_AT_FORK",  "OMP_NUM_THREADS", "OMP_PLACES",
    "OMP_PROC_BIND",       "GOMP_CPU_AFFINITY", "HIERBAR_PLACE",   "OPENBLAS_NUM_THREADS",
    "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK"};

std::string shown_program(const DoctorInput& input) {
  return input.facts.started.script.empty() ? input.facts.started.file : input.facts.started.script;
}

// For people: what loads, what could not be seen, each finding with what to do.
void print_report(std::ostream& out, const DoctorInput& input,
                  const std::vector<Diagnosis>& found) {
  out << "hierbar doctor: " << shown_program(input) << ": ";
  if (found.empty()) {
    out << "nothing found\n";
  } else {
    out << found.size() << (found.size() == 1 ? " finding\n" : " findings\n");
  }
  for (const Diagnosis& one : found) {
    out << "  " << one.code << ": " << one.what << "\n    where: " << one.where
        << "\n    do:    " << one.advice << '\n';
    if (!one.command.empty()) out << "           $ " << one.command << '\n';
  }
  std::set<std::string> printed;
  for (const ProcessLoads& process : input.facts.processes) {
    for (const FoundLibrary& library : process.libraries) {
      if (!printed.insert(library.path).second) continue;
      out << (printed.size() > 1 ? "         " : "  loads: ") << library_name(library.kind) << ": "
          << library.path << " (" << library.found_by << ")\n";
    }
  }
  if (printed.empty())
    out << "  loads: no OpenMP runtime and no MPI"
        << (input.facts.notes.empty() ? "\n" : ", as far as can be seen\n");
  if (input.inactivity) out << "  not active: " << input.inactivity->words << '\n';
  for (const std::string& remark : input.facts.remarks) out << "  note:  " << remark << '\n';
  for (const std::string& note : input.facts.notes) out << "  note:  " << note << '\n';
}

using Json = nlohmann::ordered_json;

Json processes_json(const ProgramFacts& facts) {
  Json processes = Json::array();
  for (const ProcessLoads& process : facts.processes) {
    Json libraries = Json::array();
    for (const FoundLibrary& library : process.libraries) {
      libraries.push_back({{"kind", library_id(library.kind)},
                           {"path", library.path},
                           {"real_path", library.real_path},
                           {"found_by", library.found_by}});
    }
    processes.push_back({{"program", process.program}, {"libraries", libraries}});
  }
  return processes;
}

// For programs; docs/guide/doctor.md describes it.
Json report_as_json(const DoctorInput& input, const std::vector<Diagnosis>& found) {
  const ProgramFacts& facts = input.facts;
  Json variables = Json::object();
  for (const char* name : kReportedVariables) {
    if (facts.environment(name) != nullptr) variables[name] = facts.environment(name);
  }
  Json findings = Json::array();
  for (const Diagnosis& one : found) {
    findings.push_back({{"code", one.code},
                        {"what", one.what},
                        {"where", one.where},
                        {"advice", one.advice},
                        {"command", one.command.empty() ? Json(nullptr) : Json(one.command)}});
  }
  std::vector<std::string> notes = facts.remarks;
  notes.insert(notes.end(), facts.notes.begin(), facts.notes.end());
  Json inactive = nullptr;
  if (input.inactivity)
    inactive = {{"code", input.inactivity->code}, {"words", input.inactivity->words}};
  const Json cpus = {{"online", input.machine.present.to_string()},
                     {"allowed", input.rank.mask.to_string()},
                     {"quota", input.quota ? Json(*input.quota) : Json(nullptr)}};
  return {{"host", host_name()},
          {"command", input.command},
          {"program", facts.started.file},
          {"script", facts.started.script.empty() ? Json(nullptr) : Json(facts.started.script)},
          {"was_run", facts.was_run},
          {"verdict", found.empty() ? "nothing found" : "findings"},
          {"processes", processes_json(facts)},
          {"cpus", cpus},
          {"variables", variables},
          {"notes", notes},
          {"not_active", inactive},
          {"findings", findings}};
}

constexpr std::uint32_t kMaxRunSeconds = 86400;
constexpr const char* kDefaultRunSeconds = "10";
constexpr const char* kDefaultBugReport = "hierbar-bug.json";

struct DoctorOptions {
  std::string run_seconds;
  std::string description;
  std::string bug_report;  // the file; empty: none
  bool quiet = false;
  bool json = false;
};

// The team that this process would get with the program's variables.
RankView own_rank(const Machine& machine, const Environment& environment) {
  NodeRank rank{.launch = {},
                .rank = 0,
                .process = read_process(getpid()).value_or(Process{}),
                .environment = environment};
  std::vector<std::string> remarks;  // what is not understood is not judged
  return view_ranks(machine, {rank}, "", remarks).front();
}

std::string own_name() {
  const std::string file = program_of(getpid());
  std::error_code unresolved;
  return std::filesystem::equivalent(find_in_path("hierbar"), file, unresolved) ? "hierbar" : file;
}

std::chrono::seconds run_time(const DoctorOptions& options) {
  const std::uint32_t seconds = parse_count(options.run_seconds, kMaxRunSeconds);
  if (seconds == 0) {
    refuse("--run", options.run_seconds, "not a valid time",
           "1 to " + std::to_string(kMaxRunSeconds) + " seconds");
  }
  return std::chrono::seconds(seconds);
}

// Writes the file for a bug report, and returns the exit code. `doctor_report` is null without a
// program.
int write_bug_report(const DoctorOptions& options, const Machine& machine,
                     const nlohmann::ordered_json& doctor_report,
                     const std::vector<std::string>& messages) {
  const std::string& path = options.bug_report;
  const std::string problem =
      write_new_file(path, bug_report(machine, doctor_report, messages).dump(2) + "\n");
  if (!problem.empty()) {
    std::cerr << "hierbar doctor: --report-bug: cannot write '" << path << "': " << problem << '\n';
    return kExitBadInput;
  }
  std::cout << "hierbar doctor: wrote " << path
            << ": versions, machine, variables, findings, messages. Please read it before you "
               "attach it to your report.\n";
  return kExitFine;
}

// Runs the program. With a bug report, keeps what hierbar and the runtimes say.
Result<WatchedRun> watch(const DoctorOptions& options, const Program& program,
                         std::chrono::seconds most, std::vector<std::string>& messages) {
  if (options.bug_report.empty()) return watch_run(program, most);
  setenv("HIERBAR_VERBOSE", "1", 0);
  const KeptMessages kept;
  Result<WatchedRun> run = watch_run(program, most);
  messages = kept.last();
  return run;
}

std::vector<Diagnosis> diagnose(const DoctorInput& input) {
  std::vector<Diagnosis> found = diagnose_libraries(input);
  for (const auto& more : {diagnose_settings(input), diagnose_cpus(input)})
    found.insert(found.end(), more.begin(), more.end());
  return found;
}

// If `most` is not 0, the program is run for so long, and `messages` gets what it says. Errors: it
// cannot be started or looked at.
Result<ProgramFacts> learn_facts(const DoctorOptions& options, const Program& program,
                                 std::chrono::seconds most, std::vector<std::string>& messages) {
  Result<ProgramFacts> facts = gather_facts(program);
  if (!facts || most.count() == 0) return facts;
  const Result<WatchedRun> run = watch(options, program, most, messages);
  if (!run) return Error{run.error()};
  add_run(*run, *facts);
  return facts;
}

int examine(const CLI::App& command, const DoctorOptions& options, const Program& program) {
  if (program.empty() && options.bug_report.empty()) {
    throw CLI::ValidationError("doctor",
                               "no program; put it after '--', as in 'hierbar doctor -- ./app'");
  }
  if (program.empty())
    return write_bug_report(options, load_chosen_machine(command, options.description), nullptr,
                            {});
  const std::chrono::seconds most =
      command.count("--run") > 0 ? run_time(options) : std::chrono::seconds(0);
  // Started by a launcher, the first rank speaks for all, which have the same program.
  const char* rank = rank_in_job(own_environment());
  if (rank != nullptr && std::strcmp(rank, "0") != 0) return kExitFine;

  std::vector<std::string> messages;
  Result<ProgramFacts> facts = learn_facts(options, program, most, messages);
  if (!facts) {
    std::cerr << "hierbar doctor: " << facts.error() << '\n';
    return kExitBadInput;
  }
  const Machine machine = load_chosen_machine(command, options.description);
  const Environment environment = facts->environment;
  const RankView own = own_rank(machine, environment);
  std::optional<Inactivity> inactivity = foresee_inactivity(*facts, own.team.num_threads);
  const DoctorInput input{.command = program,
                          .facts = *std::move(facts),
                          .machine = machine,
                          .rank = own,
                          .quota = read_cpu_quota(),
                          .inactivity = std::move(inactivity),
                          .hierbar = own_name()};
  const std::vector<Diagnosis> found = diagnose(input);
  if (!options.bug_report.empty())
    return write_bug_report(options, machine, report_as_json(input, found), messages);
  if (options.json) {
    std::cout << report_as_json(input, found).dump(2) << '\n';
  } else if (!found.empty() || !options.quiet) {
    print_report(std::cout, input, found);
  }
  return found.empty() ? kExitFine : kExitFindings;
}

constexpr const char* kDoctorHelp =
    "hierbar doctor [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Pass the command as it is usually started, including the launcher and 'hierbar run' if there "
    "are any. doctor starts\n"
    "nothing: it reads the program's files as the loader would. Libraries that a program opens "
    "while it runs, as Python does\n"
    "when it imports, are seen with --run only, which sets LD_DEBUG=libs.\n"
    "\n"
    "Findings, each with a remedy (docs/guide/doctor.md explains them):\n"
    "  other-runtime      hierbar is requested, but another OpenMP runtime comes first\n"
    "  rpath-wins         a DT_RPATH hides the runtime that LD_LIBRARY_PATH names\n"
    "  two-runtimes       a process has several OpenMP runtimes; two-mpis: several MPI libraries\n"
    "  barrier-not-set    hierbar's runtime without KMP_BARRIER=hier\n"
    "  missing-libhierbar hierbar's runtime without libhierbar.so; missing-library: any other "
    "library is not found\n"
    "  missing-shim       libhierbar_mpi_any.so without the shim of the program's MPI\n"
    "  other-mpi          the preloaded MPI_Barrier or the launcher belongs to another MPI than "
    "the program\n"
    "  static-runtime     OpenMP or MPI is linked into the program\n"
    "  setuid             the loader ignores its variables, because the program gets more rights\n"
    "  openblas-threads   OpenBLAS has its own threads in addition to OpenMP's\n"
    "  misspelt-variable  a HIERBAR_ name that is nearly one of hierbar's\n"
    "  fork-setting       KMP_INIT_AT_FORK=FALSE, with which forked processes hang\n"
    "  binding-inherited  OMP_PLACES or a similar variable binds Python's main thread and "
    "everything that it starts\n"
    "  lost-cpus-per-task srun without the job's --cpus-per-task\n"
    "  offline-cpus       a list of cpus names some that are not online; foreign-cpus: some that "
    "may not be used\n"
    "  stacked-threads, smt-sharing, quota   as 'hierbar check' finds them\n"
    "\n"
    "Where hierbar has nothing to serve (teams of one thread, no barrier called, a static program, "
    "threads of its own, no\n"
    "OpenMP), a line 'not active' says why, in the words of 'hierbar run'. That is no finding.\n"
    "\n"
    "Exit codes: 0 nothing found, 1 findings, 2 bad options or no such program.\n"
    "\n"
    "Examples:\n"
    "  hierbar doctor -- ./app\n"
    "  hierbar doctor --run 20 -- python3 train.py\n"
    "  hierbar doctor -- srun -n 4 ./app\n"
    "  hierbar doctor --json -- hierbar run -- ./app\n"
    "  hierbar doctor --report-bug --run 20 -- hierbar run -- ./app\n";

}  // namespace

void add_doctor_command(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Show which OpenMP and MPI libraries a program loads, and diagnose problems");
  auto options = std::make_shared<DoctorOptions>();
  command
      ->add_option("--run", options->run_seconds,
                   std::string("Start the command and record what it loads and where its threads "
                               "run, for at most this time; then\n"
                               "end it; default: ") +
                       kDefaultRunSeconds)
      ->type_name("[SECONDS]")
      ->expected(0, 1)
      ->default_str(kDefaultRunSeconds);
  command
      ->add_option("--report-bug", options->bug_report,
                   std::string("Write versions, the machine, relevant variables, and what is known "
                               "about the program to FILE,\n"
                               "to be attached to a bug report; with --run also the last messages. "
                               "It contains no secrets and\n"
                               "no names of users or hosts, and needs no program. Default: ") +
                       kDefaultBugReport)
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str(kDefaultBugReport);
  command->add_flag("--quiet", options->quiet, "Print nothing if nothing is found");
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kDoctorHelp);
  command->callback([command, options, &program] {
    throw CLI::RuntimeError(examine(*command, *options, program));
  });
}

}  // namespace hierbar
