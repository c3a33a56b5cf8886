// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/completion/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/program/program.hpp"

namespace hierbar {
namespace {

// The first clause: what stands before the first line break, colon or semicolon.
std::string first_clause(const std::string& text) { return text.substr(0, text.find_first_of("\n:;")); }

// The words of "close|spread". Type names that stand for something else, as in XML|DESCRIPTION, are
// written in capitals.
std::vector<std::string> choices_of(const std::string& type_name) {
  const bool is_list = type_name.find('|') != std::string::npos && std::none_of(type_name.begin(), type_name.end(), [](char c) {
                         return (c >= 'A' && c <= 'Z') || c == ' ';
                       });
  std::vector<std::string> choices;
  if (!is_list) return choices;
  std::istringstream words(type_name);
  for (std::string word; std::getline(words, word, '|');) choices.push_back(word);
  return choices;
}

bool names_file(const std::string& type_name) { return type_name.rfind("FILE", 0) == 0 || type_name.rfind("XML", 0) == 0; }

OptionWords describe(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.summary = first_clause(option.get_description());
  if (option.get_items_expected_max() == 0) return words;
  words.value = names_file(option.get_type_name()) ? OptionWords::Value::kFile : OptionWords::Value::kOther;
  words.choices = choices_of(option.get_type_name());
  return words;
}

CommandWords describe(const CLI::App& command) {
  CommandWords words;
  words.name = command.get_name();
  words.summary = first_clause(command.get_description());
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) {
      words.options.push_back(describe(*option));
      continue;
    }
    words.choices = choices_of(option->get_type_name());
    words.takes_files = words.choices.empty();
  }
  words.starts_program = starts_programs(words.name);
  return words;
}

}  // namespace

std::vector<CommandWords> describe_commands(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(describe(*command));
  return commands;
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

}  // namespace hierbar
