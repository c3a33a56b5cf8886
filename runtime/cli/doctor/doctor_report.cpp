// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/doctor_report.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "base/host_name.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

// Variables that decide about runtimes, teams, binding and barriers.
constexpr const char* kVariables[] = {"LD_PRELOAD",          "LD_AUDIT",          "LD_LIBRARY_PATH", "KMP_BARRIER",
                                      "KMP_AFFINITY",        "KMP_INIT_AT_FORK",  "OMP_NUM_THREADS", "OMP_PLACES",
                                      "OMP_PROC_BIND",       "GOMP_CPU_AFFINITY", "HIERBAR_PLACE",   "OPENBLAS_NUM_THREADS",
                                      "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK"};

std::string kind_id(LibraryKind kind) {
  constexpr const char* kNames[] = {"other", "hierbar-openmp", "gcc-openmp",        "llvm-openmp",         "intel-openmp",
                                    "mpich", "openmpi",        "hierbar-mpi-mpich", "hierbar-mpi-openmpi", "openblas-pthreads"};
  return kNames[static_cast<int>(kind)];
}

std::string shown_program(const DoctorInput& input) {
  return input.facts.started.script.empty() ? input.facts.started.file : input.facts.started.script;
}

}  // namespace

void print_report(std::ostream& out, const DoctorInput& input, const std::vector<Diagnosis>& found) {
  out << "hierbar doctor: " << shown_program(input) << ": ";
  if (found.empty()) {
    out << "nothing found\n";
  } else {
    out << found.size() << (found.size() == 1 ? " finding\n" : " findings\n");
  }
  for (const Diagnosis& one : found) {
    out << "  " << one.code << ": " << one.what << "\n    where: " << one.where << "\n    do:    " << one.advice << '\n';
    if (!one.command.empty()) out << "           $ " << one.command << '\n';
  }
  std::set<std::string> printed;
  for (const ProcessLoads& process : input.facts.processes) {
    for (const FoundLibrary& library : process.libraries) {
      if (!printed.insert(library.path).second) continue;
      out << (printed.size() > 1 ? "         " : "  loads: ") << library_name(library.kind) << ": " << library.path << " ("
          << library.found_by << ")\n";
    }
  }
  if (printed.empty())
    out << "  loads: no OpenMP runtime and no MPI" << (input.facts.notes.empty() ? "\n" : ", as far as can be seen\n");
  if (input.inactivity) out << "  not active: " << input.inactivity->words << '\n';
  for (const std::string& remark : input.facts.remarks) out << "  note:  " << remark << '\n';
  for (const std::string& note : input.facts.notes) out << "  note:  " << note << '\n';
}

nlohmann::ordered_json report_as_json(const DoctorInput& input, const std::vector<Diagnosis>& found) {
  using Json = nlohmann::ordered_json;
  const ProgramFacts& facts = input.facts;
  Json processes = Json::array();
  for (const ProcessLoads& process : facts.processes) {
    Json libraries = Json::array();
    for (const FoundLibrary& library : process.libraries) {
      libraries.push_back({{"kind", kind_id(library.kind)},
                           {"path", library.path},
                           {"real_path", library.real_path},
                           {"found_by", library.found_by}});
    }
    processes.push_back({{"program", process.program}, {"libraries", libraries}});
  }
  Json variables = Json::object();
  for (const char* name : kVariables) {
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
  if (input.inactivity) inactive = {{"code", input.inactivity->code}, {"words", input.inactivity->words}};
  const Json cpus = {{"online", input.machine.present.to_string()},
                     {"allowed", input.rank.mask.to_string()},
                     {"quota", input.quota ? Json(*input.quota) : Json(nullptr)}};
  return {{"host", host_name()},           {"command", input.command},
          {"program", facts.started.file}, {"script", facts.started.script.empty() ? Json(nullptr) : Json(facts.started.script)},
          {"was_run", facts.was_run},      {"verdict", found.empty() ? "nothing found" : "findings"},
          {"processes", processes},        {"cpus", cpus},
          {"variables", variables},        {"notes", notes},
          {"not_active", inactive},        {"findings", findings}};
}

}  // namespace hierbar
