// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/doctor/program_facts.hpp"
#include "cli/program/counted_run.hpp"

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

}  // namespace hierbar
