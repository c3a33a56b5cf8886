// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/trusted_variable.hpp"
#include "base/variables.hpp"

namespace hierbar {
namespace {

struct VariablesOptions {
  bool json = false;
  bool markdown = false;
  bool man = false;
};

const char* own_value(const Variable& variable) { return trusted_variable(variable.name); }

void print_text() {
  for (const Variable& variable : kVariables) {
    std::cout << variable.name << "  (" << variable.reader << ")\n"
              << "    " << variable.effect << '\n'
              << "    values: " << variable.values << "; unset: " << variable.unset << '\n';
    if (const char* value = own_value(variable)) std::cout << "    here: " << value << '\n';
  }
}

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Variable& variable : kVariables) {
    const char* value = own_value(variable);
    list.push_back(
        {{"name", variable.name},
         {"values", variable.values},
         {"unset", variable.unset},
         {"effect", variable.effect},
         {"reader", variable.reader},
         {"page", std::string("docs/") + variable.page},
         {"here", value == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(value)}});
  }
  std::cout << nlohmann::ordered_json{{"format", "hierbar-variables-1"}, {"variables", list}}.dump(
                   2, ' ', false, nlohmann::json::error_handler_t::replace)
            << '\n';
}

// docs/reference/variables.md.
void print_markdown() {
  std::cout << "# Environment variables\n\n"
               "`hierbar variables --markdown` writes this page. An empty value counts as unset. A "
               "value that is not\n"
               "understood gets one message that says what is allowed, and so does a name that is "
               "nearly one of these.\n"
               "A program with more rights than its user (setuid) reads none of them.\n\n"
               "| variable | values | unset | effect | read for |\n|---|---|---|---|---|\n";
  for (const Variable& variable : kVariables) {
    std::cout << "| [`" << variable.name << "`](../" << variable.page << ") | " << variable.values
              << " | " << variable.unset << " | " << variable.effect << " | " << variable.reader
              << " |\n";
  }
}

// A text of a man page: no sign of it is taken for a request or an escape.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\')
      escaped += "\\e";
    else if (letter == '-')
      escaped += "\\-";
    else
      escaped += letter;
  }
  return escaped;
}

// The section ENVIRONMENT of hierbar(7). Variables of the build are not for those who read it.
void print_man() {
  for (const Variable& variable : kVariables) {
    if (variable.reader == std::string_view("build")) continue;
    std::cout << ".TP\n.B " << variable.name << '\n'
              << roff(variable.values) << "; unset: " << roff(variable.unset) << ".\n"
              << roff(variable.effect) << " (" << variable.reader << ").\n";
  }
}

void print(const VariablesOptions& options) {
  if (options.man) return print_man();
  if (options.json) return print_json();
  if (options.markdown) return print_markdown();
  print_text();
}

}  // namespace

void add_variables_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("variables", "List the environment variables, and their values here");
  auto options = std::make_shared<VariablesOptions>();
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--markdown", options->markdown, "Print the page of the documentation")
      ->excludes(json);
  command->add_flag("--man", options->man, "Print the section of the man page hierbar(7)")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  hierbar variables\n"
      "  hierbar variables --json\n");
  command->callback([options] { print(*options); });
}

}  // namespace hierbar
