// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// barrier_model: barriers on simulated machines. `--help` prints its manual.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/model/command/commands.hpp"

namespace {

constexpr const char* kDescription =
    "Barriers on machines that are not at hand: the production code of every algorithm runs on simulated cores, whose caches\n"
    "take turns at lines as a coherence protocol makes them.\n";

constexpr const char* kFooter =
    "What it costs to use a line (latencies, queues, invalidations, contention) comes from a machine file: an ensemble of\n"
    "parameter sets, because the published measurements do not settle them all. In every run it is checked that nobody hangs\n"
    "and that nobody leaves a barrier before all have entered it.\n"
    "\n"
    "Exit status:\n"
    "  0  done (with --check: every target met)\n"
    "  1  with --check: a target missed\n"
    "  2  wrong arguments, or a machine that cannot be simulated\n"
    "\n"
    "`barrier_model COMMAND --help` explains a command.\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace hierbar::bench::model;
  int status = 0;
  try {
    CLI::App app{kDescription, "barrier_model"};
    app.footer(kFooter);
    app.require_subcommand(1);
    add_table_command(app, status);
    add_compare_command(app);
    add_scale_command(app, status);
    add_hybrid_command(app, status);
    add_region_command(app, status);
    add_design_command(app);
    add_calibrate_command(app);
    add_host_command(app, status);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : kUsage;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "barrier_model: {}\n", error.what());
    return kUsage;
  }
  return status;
}
