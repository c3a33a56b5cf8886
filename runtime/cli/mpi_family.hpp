// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/program.hpp"

namespace hierbar {

// Which shim a program needs.
enum class MpiFamily { kNone, kMpich, kOpenMpi };

const char* family_name(MpiFamily family);  // "no MPI", "MPICH", "Open MPI"

struct FamilyGuess {
  MpiFamily family = MpiFamily::kNone;
  bool by_launcher = false;  // the command's first word is a launcher of that family
  std::string why;           // "'mpiexec' is /usr/bin/mpiexec.hydra"
};

// From the launcher: what its name leads to, else what it answers to --version; else from the first word of the command that is a
// file which names an MPI library, as a program that srun starts does. kNone when nothing tells.
FamilyGuess guess_family(const Program& command);

// The file that a shell would run for that word; empty if there is none.
std::string find_in_path(const std::string& word);

}  // namespace hierbar
