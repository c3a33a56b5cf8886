// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/launchers.hpp"
#include "cli/advice/candidates.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// "Open MPI". Requires launcher.line, as all functions here do.
std::string line_name(const Launcher& launcher);

// A line for a shell: it starts the program with the candidate's binding and OpenMP's variables.
// `program` stands behind the launcher's options.
//
// The cpus are those of the machine for which the candidate was found. Open MPI gets a rule where
// it has one for the pattern, else a rankfile that `hierbar place` writes.
std::string launch_line(const Launcher& launcher, const Machine& machine,
                        const Candidate& candidate, const Program& program);

// The line without any binding, as people start programs: as many ranks on as many nodes, with the
// same number of threads.
std::string plain_line(const Launcher& launcher, const Candidate& candidate,
                       const Program& program);

}  // namespace hierbar
