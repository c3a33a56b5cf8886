// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <iostream>
#include <memory>

#include "cli/option/machine_option.hpp"
#include "topology/export/machine_json.hpp"
#include "topology/export/machine_text.hpp"

namespace hierbar {
namespace {

struct TopoOptions {
  std::string description;
  bool json = false;
  bool all = false;
};

void show(const CLI::App& command, const TopoOptions& options) {
  const Machine machine = load_chosen_machine(command, options.description);
  if (options.json) {
    std::cout << to_json(machine).dump(2) << '\n';
    return;
  }
  for (const std::string& line :
       describe(machine, options.all ? Detail::kEveryUnit : Detail::kCollapsed))
    std::cout << line << '\n';
}

}  // namespace

void add_topo_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "topo", "Show the machine as the barriers see it: who shares what, and the active levels");
  auto options = std::make_shared<TopoOptions>();
  add_machine_option(*command, options->description);
  command->add_flag("--json", options->json,
                    "Print JSON: every unit with its labels, cpus, parent and children");
  command->add_flag("--all", options->all,
                    "Print every unit; neighbours of the same shape otherwise share a line");
  command->footer(
      "Levels marked with * are active: two or more allowed cores share one of their units, and no "
      "other\n"
      "active level divides the cores in the same way. HIERBAR_LEVELS selects other levels (see "
      "'hierbar plan').\n"
      "\n"
      "Examples:\n"
      "  hierbar topo\n"
      "  hierbar topo --topology node17.xml --json\n"
      "  hierbar topo --topology 'pack:2 [numa] l3:16 l2:8 core:1 pu:2'\n");
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
