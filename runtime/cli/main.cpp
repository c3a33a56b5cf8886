// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/program/program.hpp"
#include "hierbar/hierbar.h"
#include "topology/hwloc_guards.hpp"

namespace {

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands(
                 [&name](const CLI::App* command) { return command->get_name() == name; })
              .empty();
}

// The message for a first word that is not a command. Empty if it is a command or an option.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || has_command(app, argv[1])) return "";
  return "hierbar: there is no command '" + std::string(argv[1]) + "'; there are " +
         names_of_commands(app) + "; see hierbar --help";
}

// The message for a program behind a command that starts none. Empty if all is well.
std::string misplaced_program(const hierbar::Program& program, int argc, char** argv) {
  if (program.empty() || (argc >= 2 && hierbar::starts_programs(argv[1]))) return "";
  if (argc < 2)
    return "hierbar: there is no command before '--', for instance 'run'; see hierbar --help";
  return "hierbar: '" + std::string(argv[1]) +
         "' starts no program, so nothing may follow '--'; see hierbar --help";
}

// What is printed for bad options. CLI11's own words name no command, and have words that were not
// expected the wrong way round.
std::string failure(const CLI::App& app, const CLI::Error& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  const std::string name = commands.empty() ? "hierbar" : "hierbar " + command.get_name();
  std::string unexpected;
  for (const std::string& word : command.remaining(true)) unexpected += " " + word;
  std::string problem = error.what();
  if (commands.empty()) {
    problem = (unexpected.empty() ? "" : "not expected:" + unexpected + "; ") +
              "a command is missing; there are " + names_of_commands(app);
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    problem = "not expected:" + unexpected;
  }
  const std::string own = command.get_name() + ": ";  // where a command has named itself
  if (problem.compare(0, own.size(), own) == 0) problem.erase(0, own.size());
  return name + ": " + problem + "\nSee '" + name + " --help'.\n";
}

// Options that help does not show (refuse_name()) leave a second empty line behind the others.
struct HelpFormatter : CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
      text.erase(at, 1);
    return text;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  hierbar::catch_hwloc_complaints();
  const hierbar::Program program = hierbar::cut_off_program(argc, argv);
  CLI::App app{
      "Barriers that follow the machine's tree: what hierbar sees and decides on a machine",
      "hierbar"};
  app.set_version_flag("--version", "hierbar " HIERBAR_VERSION_STRING);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());  // of the commands, too
  app.failure_message(
      [](const CLI::App* failed, const CLI::Error& error) { return failure(*failed, error); });
  hierbar::add_check_command(app, program);
  hierbar::add_doctor_command(app, program);
  hierbar::add_run_command(app, program);
  hierbar::add_compare_command(app, program);
  hierbar::add_show_command(app, program);
  hierbar::add_topo_command(app);
  hierbar::add_plan_command(app);
  hierbar::add_place_command(app);
  hierbar::add_meet_command(app);
  hierbar::add_predict_command(app);
  hierbar::add_advise_command(app, program);
  hierbar::add_tune_command(app, program);
  hierbar::add_report_command(app);
  hierbar::add_variables_command(app);
  hierbar::add_completion_command(app);
  if (const std::string problem = unknown_command(app, argc, argv); !problem.empty()) {
    std::cerr << problem << '\n';
    return hierbar::kExitBadInput;
  }
  if (const std::string problem = misplaced_program(program, argc, argv); !problem.empty()) {
    std::cerr << problem << '\n';
    return hierbar::kExitBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& stop) {
    return stop.get_exit_code();  // the command has printed its message
  } catch (const CLI::ParseError& stop) {
    // --help and --version come here too; their code is 0.
    return app.exit(stop) == 0 ? 0 : hierbar::kExitBadInput;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "hierbar: " << error.what() << '\n';
  return hierbar::kExitBadInput;  // not 1, by which `check` reports findings
}
