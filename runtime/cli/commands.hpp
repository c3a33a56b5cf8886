// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include "cli/program/program.hpp"

namespace hierbar {

// The exit codes of `hierbar check`.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFindings = 1;
inline constexpr int kExitCouldNotCheck = 2;

// The exit code of `hierbar run --require-active` and of `hierbar compare` where the program ended
// well, but no barrier was served.
inline constexpr int kExitNotActive = 3;

// `hierbar check`: checks how ranks and threads are bound, before a program is
// started. `program` is what follows "--". Both arguments must live as long as the command.
void add_check_command(CLI::App& app, const Program& program);

// `hierbar run`: starts a program, or a launcher with a program, with hierbar's barriers. `program`
// is what follows "--". Both arguments must live as long as the command.
void add_run_command(CLI::App& app, const Program& program);

// `hierbar compare`: whether a program takes less time under `hierbar run`. `program` is what
// follows "--". Both arguments must live as long as the command.
void add_compare_command(CLI::App& app, const Program& program);

// `hierbar show`: shows where the threads of a job run, or would run. `program` is what follows
// "--". Both arguments must live as long as the command.
void add_show_command(CLI::App& app, const Program& program);

// `hierbar topo`: shows the machine as the barriers see it.
void add_topo_command(CLI::App& app);

// `hierbar plan`: shows who waits for whom, in the paper's groups and in the engine's plan.
void add_plan_command(CLI::App& app);

// `hierbar place`: divides a node among ranks, and prints the options for launchers and OpenMP.
void add_place_command(CLI::App& app);

// `hierbar meet`: what each way for the leaders of nodes to meet would cost.
void add_meet_command(CLI::App& app);

// `hierbar predict`: what messages will cost for every split of ranks over nodes.
void add_predict_command(CLI::App& app);

// `hierbar report`: merges the reports of several processes.
void add_report_command(CLI::App& app);

// `hierbar variables`: lists the environment variables.
void add_variables_command(CLI::App& app);

// `hierbar advise`: nodes, ranks, threads and bindings for a job, as lines ready to run. `program`
// must live as long as the command.
void add_advise_command(CLI::App& app, const Program& program);

// `hierbar tune`: measures this machine and writes the profile that plans use. With --network it
// measures messages between nodes. `program` is what stands behind "--".
void add_tune_command(CLI::App& app, const Program& program);

// `hierbar doctor`: says which OpenMP and MPI libraries a program gets, and what keeps it from
// these barriers. `program` is what follows "--". Both arguments must live as long as the command.
void add_doctor_command(CLI::App& app, const Program& program);

// Adds `hierbar completion`. It describes the commands that `app` has when it runs.
void add_completion_command(CLI::App& app);

}  // namespace hierbar
