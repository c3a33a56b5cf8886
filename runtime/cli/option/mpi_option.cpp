// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/mpi_option.hpp"

#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"

namespace hierbar {

void add_mpi_option(CLI::App& command, std::string& value) {
  value = "auto";
  command
      .add_option(
          "--mpi", value,
          "MPI library of the program: auto, mpich (also Intel MPI and others of its "
          "kind), openmpi, abi (MPI's standard ABI, libmpi_abi.so), none; default: auto,\n"
          "which is the one that the loader loads for the program, or the one that it calls "
          "in the end: where a script starts it, and where it opens its MPI library")
      ->type_name("auto|mpich|openmpi|abi|none");
}

FamilyGuess chosen_family(const std::string& value, const Program& program) {
  if (value == "auto") return guess_family(program, own_environment());
  FamilyGuess guess = guess_family_of_launcher(program.front());
  guess.why = "--mpi " + value;
  if (value == "mpich") {
    guess.family = MpiFamily::kMpich;
  } else if (value == "openmpi") {
    guess.family = MpiFamily::kOpenMpi;
  } else if (value == "abi") {
    guess.family = MpiFamily::kStandardAbi;
  } else if (value == "none") {
    guess = {.family = MpiFamily::kNone,
             .launcher = MpiFamily::kNone,
             .why = "--mpi none: MPI_Barrier is left alone"};
  } else {
    refuse("--mpi", value, "no such MPI",
           "auto, mpich (also Intel MPI and others of its kind), openmpi, abi, none");
  }
  return guess;
}

}  // namespace hierbar
