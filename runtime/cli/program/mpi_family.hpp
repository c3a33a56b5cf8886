// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/environment.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// The family of a program's MPI library. It decides which shim the program needs.
enum class MpiFamily { kNone, kMpich, kOpenMpi };

const char* family_name(MpiFamily family);  // "no MPI", "MPICH", "Open MPI"

struct FamilyGuess {
  MpiFamily family = MpiFamily::kNone;
  bool by_launcher = false;  // the command's first word is a launcher of that family
  std::string why;           // "'mpiexec' is /usr/bin/mpiexec.hydra"
};

// Guesses the family from a command, in this order. kNone if nothing is found.
//
// 1. If the first word is an MPI launcher: from the path of its file, with symbolic links resolved.
// 2. From what that launcher prints for --version.
// 3. From the first word of the command that is a program for which the loader would load an MPI
//    library. `srun` needs this step.
// 4. If a launcher starts Python: from the MPI library of its package mpi4py.
FamilyGuess guess_family(const Program& command, const Environment& environment);

// Steps 3 and 4, without regard to the launcher.
FamilyGuess guess_family_of_program(const Program& command, const Environment& environment);

}  // namespace hierbar
