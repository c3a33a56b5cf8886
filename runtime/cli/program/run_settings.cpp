// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/run_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/process.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "placement/evidence/launcher.hpp"
#include "placement/evidence/place_setting.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;

bool is_on_path(const std::string& path, const std::string& part) {
  std::istringstream parts(path);
  for (std::string one; std::getline(parts, one, ':');) {
    if (one == part) return true;
  }
  return false;
}

// Collects the variables and the notes. Several calls may add to one variable.
class Chooser {
 public:
  Chooser(const Environment& environment, RunSettings& settings)
      : environment_(environment), settings_(settings) {}

  void put_in_front(const char* name, const std::string& part, const std::string& why) {
    const std::string old = current(name);
    if (is_on_path(old, part))
      return settings_.notes.push_back(std::string(name) + " has " + part + " already");
    set(name, old.empty() ? part : part + ":" + old, why);
  }

  // Sets the variable, unless it or one of `rivals` is in the environment.
  void set_default(const char* name, const char* value, const std::string& why,
                   const std::vector<const char*>& rivals) {
    if (environment_(name) != nullptr) {
      return settings_.notes.push_back(
          std::string(name) + " is left as '" + value_of(environment_, name) + "'" +
          (value_of(environment_, name) == value ? "" : ", so not: " + why));
    }
    for (const char* rival : rivals) {
      if (environment_(rival) == nullptr) continue;
      return settings_.notes.push_back(std::string(name) + " is not set, because " + rival + " is");
    }
    set(name, value, why);
  }

  // Whether the environment has another value than `value`.
  bool is_left_to_user(const char* name, const char* value) const {
    return environment_(name) != nullptr && value_of(environment_, name) != value;
  }

 private:
  std::string current(const char* name) const {
    const auto& chosen = settings_.variables;
    const auto found = std::find_if(chosen.begin(), chosen.end(),
                                    [&](const auto& variable) { return variable.name == name; });
    return found == chosen.end() ? value_of(environment_, name) : found->value;
  }

  void set(const char* name, const std::string& value, const std::string& why) {
    std::erase_if(settings_.variables, [&](const auto& variable) { return variable.name == name; });
    settings_.variables.push_back({name, value});
    settings_.notes.push_back(std::string(name) + "=" + value + " (" + why + ")");
  }

  const Environment& environment_;
  RunSettings& settings_;
};

// For processes that have cpus of their own; see HIERBAR_BIND below. Binds each thread of a team to
// a core but the initial thread, since what that one starts, threads
// and processes, inherits its cpus: with HIERBAR_PRIMARY=free it is only moved to its core. A
// libomp that does not know that word binds it while it is in a parallel region (`reset`).
// OMP_PLACES has no such word, and a vendored libgomp obeys it as well and binds the initial thread
// for good. With several cpus per core, the neighbours in a team get cores and not the cpus of one
// core.
const char* affinity_value(bool has_smt) {
  return has_smt ? "granularity=core,compact,1,0,reset" : "granularity=core,compact,reset";
}

void choose_binding(const MachineFacts& machine, Chooser& chooser) {
  const std::vector<const char*> rivals = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"};
  chooser.set_default("KMP_AFFINITY", affinity_value(machine.has_smt),
                      "a core for each thread of a team", rivals);
  std::vector<const char*> all = rivals;
  all.push_back("KMP_AFFINITY");
  if (machine.gives_own_cpus) {
    chooser.set_default("HIERBAR_BIND", "always", "each process has its own cpus", all);
  } else {
    chooser.set_default("HIERBAR_BIND", "share", "only if the process has its own cpus", all);
  }
  chooser.set_default("HIERBAR_PRIMARY", "free",
                      "the initial thread moves to its core, and stays unbound", all);
}

void choose_for_sanitizers(const Program& command, Chooser& chooser) {
  const StartedProgram started = find_started_program(command);
  if (started.file.empty()) return;
  for (const Sanitizer& sanitizer : find_shared_sanitizers(started.file)) {
    chooser.put_in_front(sanitizer.variable, sanitizer.value,
                         sanitizer.name + std::string(": ") + sanitizer.why);
  }
}

void choose_openmp(const Libraries& libraries, const MachineFacts& machine, Chooser& chooser,
                   RunSettings& settings) {
  if (libraries.openmp_runtime.empty()) {
    settings.notes.emplace_back(
        "this installation has no OpenMP runtime, so OpenMP's barriers stay as they are");
    return;
  }
  chooser.put_in_front("LD_PRELOAD", libraries.openmp_runtime, "hierbar's OpenMP runtime");
  if (!libraries.one_runtime.empty())
    chooser.put_in_front("LD_AUDIT", libraries.one_runtime, "keeps other OpenMP runtimes out");
  chooser.put_in_front("LD_LIBRARY_PATH", libraries.openmp_directory,
                       "the same runtime under its other names");
  chooser.set_default("KMP_BARRIER", "hier", "the hierarchical barrier", {});
  // LLVM's own barriers know neither HIERBAR_PRIMARY nor HIERBAR_BIND: with `reset` alone each of
  // their regions would take several times as long.
  if (chooser.is_left_to_user("KMP_BARRIER", "hier")) {
    settings.notes.emplace_back("threads are bound as LLVM's runtime binds them");
  } else {
    choose_binding(machine, chooser);
  }
  chooser.set_default("KMP_INIT_AT_FORK", "TRUE", "forked processes can use OpenMP", {});
}

// Notes what libomp will do with HIERBAR_PLACE. Here it can still be reported to the user, before
// the program starts.
void describe_placement(const Environment& environment, RunSettings& settings) {
  const std::string value = value_of(environment, kPlaceVariable);
  if (value.empty()) return;
  const Result<PlaceSetting> setting = parse_place_setting(value);
  const std::string note = std::string(kPlaceVariable) + " is left as '" + value + "'";
  if (!setting) {
    settings.notes.push_back(note + ": " + setting.error() + "; allowed: " + kAllowedPlaceSettings +
                             "; libomp takes auto");
  } else if (setting->threads == TeamSize::kShare &&
             !value_of(environment, "OMP_NUM_THREADS").empty()) {
    settings.notes.push_back(note +
                             ", whose threads=share has no effect if OMP_NUM_THREADS is set");
  } else if (setting->threads == TeamSize::kShare) {
    settings.notes.push_back(
        note + ": a team has as many threads as there are cpus in its rank's share of the node");
  }
}

const std::string& shim_for(MpiFamily family, const Libraries& libraries) {
  switch (family) {
    case MpiFamily::kMpich:
      return libraries.mpich_shim;
    case MpiFamily::kOpenMpi:
      return libraries.openmpi_shim;
    case MpiFamily::kStandardAbi:
      return libraries.abi_shim;
    default:
      return libraries.any_shim;
  }
}

void choose_mpi(const FamilyGuess& mpi, const Libraries& libraries, const Environment& environment,
                Chooser& chooser, RunSettings& settings) {
  if (mpi.family == MpiFamily::kNone) {
    settings.notes.push_back(mpi.why.empty() ? "no MPI in the command, and no way to one, so "
                                               "MPI_Barrier is left alone; --mpi names one"
                                             : mpi.why);
    return;
  }
  const std::string& shim = shim_for(mpi.family, libraries);
  if (shim.empty()) {
    settings.notes.push_back(std::string("there is no shim for ") + family_name(mpi.family) +
                             " in this installation, so MPI_Barrier stays as it is");
  } else if (value_of(environment, "LD_PRELOAD").find("libhierbar_mpi") != std::string::npos) {
    settings.notes.push_back("LD_PRELOAD is left as '" + value_of(environment, "LD_PRELOAD") +
                             "', which already contains a shim");
  } else {
    chooser.put_in_front(
        "LD_PRELOAD", shim,
        std::string("MPI_Barrier for ") + family_name(mpi.family) + "; " + mpi.why);
  }
}

// Hydra's ranks yield to each other slowly where each is scheduled as a group. It is the shim that
// reads the variable.
void choose_sessions(const Program& command, const MachineFacts& machine,
                     const Environment& environment, Chooser& chooser) {
  if (!machine.has_autogroups || machine.num_cpus == 0) return;
  const std::optional<std::uint32_t> ranks = ranks_on_this_node(command, environment);
  if (ranks.value_or(0) <= machine.num_cpus) return;
  chooser.set_default("HIERBAR_SESSIONS", "shared",
                      std::to_string(*ranks) + " ranks on " + std::to_string(machine.num_cpus) +
                          " cpus are scheduled together",
                      {});
}

// Both readers of these variables, the tool for threads and the shim for ranks, take them from the
// environment.
void choose_report(const ReportRequest& report, const Libraries& libraries, Chooser& chooser,
                   RunSettings& settings) {
  if (report.format.empty()) return;
  if (libraries.ompt_tool.empty()) {
    settings.notes.emplace_back(
        "this installation has no libhierbar_ompt.so, so threads are not in the report");
  } else {
    chooser.set_default("OMP_TOOL_LIBRARIES", libraries.ompt_tool.c_str(),
                        "reports what barriers cost", {});
  }
  chooser.set_default("HIERBAR_REPORT", report.format.c_str(), "the format of the report", {});
  chooser.set_default("HIERBAR_OUTPUT", report.file.c_str(), "the report's file", {});
}

}  // namespace

Result<ReportRequest> request_report(const std::string& file) {
  constexpr struct {
    const char* ending;
    const char* format;
  } kEndings[] = {{".trace.json", "perfetto"}, {".txt", "text"},
                  {".json", "json"},           {".csv", "csv"},
                  {".html", "html"},           {".lstopo.xml", "lstopo"}};
  for (const auto& [ending, format] : kEndings) {
    if (file.ends_with(ending) && file != ending)
      return ReportRequest{.format = format, .file = file, .ending = ending};
  }
  return Error{"its ending is not that of a report format"};
}

std::string report_of_instance(const ReportRequest& report, std::size_t index) {
  const std::size_t stem = report.file.size() - report.ending.size();
  return report.file.substr(0, stem) + "." + std::to_string(index) + report.ending;
}

std::string shell_line_with(const std::vector<RunSettings::Variable>& variables,
                            const Program& program) {
  std::string line = "env";
  for (const RunSettings::Variable& variable : variables)
    line += " " + shell_quoted(variable.name + "=" + variable.value);
  return line + " " + shell_line(program);
}

Libraries find_libraries() {
  const fs::path prefix = fs::path(program_of(getpid())).parent_path().parent_path();
  const fs::path libraries =
      prefix / (fs::exists(prefix / "CMakeCache.txt") ? "lib" : HIERBAR_INSTALL_LIBDIR);
  const fs::path openmp = libraries / "hierbar" / "preload";
  const auto if_there = [](const fs::path& file) { return fs::exists(file) ? file.string() : ""; };
  return {.openmp_directory = if_there(openmp),
          .openmp_runtime = if_there(openmp / "libgomp.so.1"),
          .one_runtime = if_there(openmp / "libone_runtime.so"),
          .mpich_shim = if_there(libraries / shim_file(MpiFamily::kMpich)),
          .openmpi_shim = if_there(libraries / shim_file(MpiFamily::kOpenMpi)),
          .abi_shim = if_there(libraries / shim_file(MpiFamily::kStandardAbi)),
          .any_shim = if_there(libraries / shim_file(MpiFamily::kAny)),
          .ompt_tool = if_there(libraries / "libhierbar_ompt.so"),
          .stock_runtime = if_there(prefix / "stock/lib/libomp.so")};
}

MachineFacts read_machine_facts() {
  MachineFacts facts{.has_autogroups = read_has_autogroups()};
  if (const Result<CpuSet> cpus = own_cpus()) {
    facts.num_cpus = cpus->count();
    facts.has_smt = share_cores(*cpus);
  }
  return facts;
}

RunSettings choose_run_settings(const Program& command, const FamilyGuess& mpi,
                                const ReportRequest& report, const Libraries& libraries,
                                const MachineFacts& machine, const Environment& environment) {
  RunSettings settings;
  Chooser chooser(environment, settings);
  choose_openmp(libraries, machine, chooser, settings);
  describe_placement(environment, settings);
  choose_mpi(mpi, libraries, environment, chooser, settings);
  const bool has_hydra_with_shim =
      mpi.launcher == MpiFamily::kMpich && !shim_for(mpi.family, libraries).empty();
  if (has_hydra_with_shim) choose_sessions(command, machine, environment, chooser);
  choose_report(report, libraries, chooser, settings);
  choose_for_sanitizers(command, chooser);

  // Open MPI's launcher passes its environment only to the ranks of its own node.
  settings.command = {command.front()};
  if (mpi.launcher == MpiFamily::kOpenMpi) {
    for (const RunSettings::Variable& variable : settings.variables) {
      settings.command.insert(settings.command.end(), {"-x", variable.name});
    }
    if (!settings.variables.empty())
      settings.notes.push_back("-x given to " + command.front() + ", for ranks on other nodes");
  }
  settings.command.insert(settings.command.end(), command.begin() + 1, command.end());
  return settings;
}

}  // namespace hierbar
