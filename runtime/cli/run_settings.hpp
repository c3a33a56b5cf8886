// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "cli/mpi_family.hpp"
#include "cli/program.hpp"
#include "topology/result.hpp"

namespace hierbar {

// Where this installation or build tree keeps what programs load.
struct Libraries {
  std::string openmp_directory;  // with libomp.so and its other names; empty: not there
  std::string mpich_shim;        // empty: not there
  std::string openmpi_shim;
};

// Beside the command itself, in the build tree or as installed.
Libraries find_libraries();

struct RunSettings {
  struct Variable {
    std::string name, value;
  };
  std::vector<Variable> variables;
  Program command;                 // the given one; for Open MPI's launcher with -x, which carries the variables to other nodes
  std::vector<std::string> notes;  // what was done, what was left as the user has it, and what is missing; one line each
};

// What to set so that `command` runs with hierbar's barriers. What the environment has is never changed; search paths are put in
// front of the user's.
RunSettings choose_run_settings(const Program& command, const FamilyGuess& mpi, const Libraries& libraries,
                                const Environment& environment);

}  // namespace hierbar
