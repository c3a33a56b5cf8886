// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/command/run_command.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>

#include "cli/machine_option.hpp"
#include "cli/option_values.hpp"
#include "cli/run_settings.hpp"

namespace hierbar {
namespace {

struct RunOptions {
  std::string mpi = "auto";
  bool quiet = false;
  bool dry_run = false;
};

FamilyGuess chosen_family(const RunOptions& options, const Program& program) {
  FamilyGuess guess = guess_family(program);
  if (options.mpi == "auto") return guess;
  guess.why = "--mpi " + options.mpi;
  if (options.mpi == "mpich") {
    guess.family = MpiFamily::kMpich;
  } else if (options.mpi == "openmpi") {
    guess.family = MpiFamily::kOpenMpi;
  } else if (options.mpi == "none") {
    guess = {.family = MpiFamily::kNone, .by_launcher = false, .why = "--mpi none: nothing is done for MPI_Barrier"};
  } else {
    refuse("--mpi", options.mpi, "no such MPI", "auto, mpich (also Intel MPI and others of its kind), openmpi, none");
  }
  return guess;
}

void print(const RunSettings& settings) {
  std::cout << "env";
  for (const RunSettings::Variable& variable : settings.variables)
    std::cout << ' ' << shell_quoted(variable.name + "=" + variable.value);
  for (const std::string& word : settings.command) std::cout << ' ' << shell_quoted(word);
  std::cout << '\n';
}

int run(const RunOptions& options, const Program& program) {
  if (program.empty()) {
    throw CLI::ValidationError("run", "no program; put it behind '--', as in 'hierbar run -- mpiexec -n 4 ./app'");
  }
  const RunSettings settings = choose_run_settings(program, chosen_family(options, program), find_libraries(), own_environment());
  if (!options.quiet) {
    for (const std::string& note : settings.notes) std::cerr << "hierbar run: " << note << '\n';
  }
  if (options.dry_run) {
    print(settings);
    return 0;
  }
  for (const RunSettings::Variable& variable : settings.variables) setenv(variable.name.c_str(), variable.value.c_str(), 1);
  return become(settings.command);
}

}  // namespace

void add_run_command(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand("run", "Run a program or an MPI launcher with these barriers, nothing else changed");
  auto options = std::make_shared<RunOptions>();
  command
      ->add_option(
          "--mpi", options->mpi,
          "Whose MPI the program uses: auto, mpich (also Intel MPI and others of its kind), openmpi, none; default: auto,\n"
          "which is the launcher's and, behind others such as srun, the one that the program is linked with")
      ->type_name("NAME");
  command->add_flag("--quiet", options->quiet, "Do not say what is set");
  command->add_flag("--dry-run", options->dry_run, "Print the command with its environment, for a shell, instead of running it");
  command->footer(
      "hierbar run [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
      "\n"
      "Sets, and says so on stderr:\n"
      "  LD_LIBRARY_PATH  the OpenMP runtime of this installation in front of what is there\n"
      "  KMP_BARRIER      hier\n"
      "  OMP_PLACES       cores, unless OMP_PROC_BIND, KMP_AFFINITY or GOMP_CPU_AFFINITY is set\n"
      "  LD_PRELOAD       the shim for MPI_Barrier in front of what is there\n"
      "A variable that is set already is left alone, HIERBAR_PLACE too, whose threads=share makes teams as large as their\n"
      "rank's share of the node. Open MPI's mpiexec gets -x for each, because it takes them to other nodes only when told; in\n"
      "commands with ':' that is for the first program. The exit code is the program's, 127 or 126 when it cannot\n"
      "be started, 2 for bad options.\n"
      "\n"
      "Examples:\n"
      "  hierbar run -- mpiexec -n 4 ./app\n"
      "  OMP_NUM_THREADS=8 hierbar run -- ./openmp_program\n"
      "  hierbar run --mpi mpich -- srun -n 4 ./wrapper.sh\n"
      "  hierbar run --dry-run -- mpiexec -n 4 ./app > job.sh\n");
  command->callback([options, &program] { throw CLI::RuntimeError(run(*options, program)); });
}

}  // namespace hierbar
