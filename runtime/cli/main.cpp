// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "cli/machine_option.hpp"
#include "cli/place_command.hpp"
#include "cli/plan_command.hpp"
#include "cli/topo_command.hpp"
#include "hierbar/hierbar.h"

int main(int argc, char** argv) try {
  CLI::App app{"Barriers that follow the machine's tree: what hierbar sees and decides on a machine", "hierbar"};
  app.set_version_flag("--version", "hierbar " HIERBAR_VERSION_STRING);
  app.require_subcommand(1);
  hierbar::add_topo_command(app);
  hierbar::add_plan_command(app);
  hierbar::add_place_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    // Also --help and --version, whose code is 0.
    return app.exit(stop) == 0 ? 0 : hierbar::kExitBadInput;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "hierbar: " << error.what() << '\n';
  return 1;
}
