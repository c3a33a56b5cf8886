// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/program_facts.hpp"
#include "cli/program/counted_run.hpp"
#include "placement/decision/findings.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Why a program has no barriers that hierbar could serve. `hierbar run` says it after a run, and
// `hierbar doctor` foresees it, in the same words.
struct Inactivity {
  const char* code;   // for programs; docs/guide/doctor.md lists them
  std::string words;  // "teams of one thread"
};

// What the program's files show. `team_size` is that of a team by the environment. Nothing if they
// show no reason, or not enough: a shell or Python shows nothing of what it starts.
std::optional<Inactivity> foresee_inactivity(const ProgramFacts& facts, std::uint32_t team_size);

// After a run in which no barrier was served: by what its processes left, and else by the files of
// `command`, as it was before `hierbar run` added to it.
Inactivity explain_inactivity(const CountedRun& run, const Program& command);

// Something that keeps a program slow, or from this project's barriers. docs/guide/doctor.md lists
// the codes.
struct Diagnosis {
  std::string code;     // "two-runtimes"; these do not change
  std::string what;     // one sentence
  std::string where;    // files, variables or cpus
  std::string advice;   // what to do
  std::string command;  // the same, to be pasted into a shell; empty if there is no such command
};

struct DoctorInput {
  Program command;
  ProgramFacts facts;
  const Machine& machine;
  // What the command would run on, and the team that its environment asks for.
  RankView rank;
  std::optional<std::uint32_t> quota;
  std::optional<Inactivity> inactivity;  // why hierbar has nothing to serve
  // How to call this command: "hierbar", or its path if that is not in PATH.
  std::string hierbar = "hierbar";
};

// `hierbar run -- COMMAND`, quoted for a shell.
std::string run_command_line(const DoctorInput& input);
// The command behind `prefix`, which is quoted already: "OMP_NUM_THREADS=2".
std::string with_prefix(const DoctorInput& input, const std::string& prefix);

// KMP_BARRIER=hier
bool asks_for_hier(const Environment& environment);
// Whether the user means the program to have this project's barriers: the variables say so.
bool wants_hierbar(const ProgramFacts& facts);
bool loads_openmp(const ProgramFacts& facts);

// Wrong, doubled, missing and foreign libraries.
std::vector<Diagnosis> diagnose_libraries(const DoctorInput& input);
// Variables and options that undo what they are meant to do.
std::vector<Diagnosis> diagnose_settings(const DoctorInput& input);
// Threads, cpus and the quota.
std::vector<Diagnosis> diagnose_cpus(const DoctorInput& input);

}  // namespace hierbar
