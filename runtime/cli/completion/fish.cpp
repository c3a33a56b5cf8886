// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/completion/shells.hpp"

namespace hierbar {
namespace {

std::string fish_word(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return "'" + result + "'";
}

std::string option_line(const std::string& begin, const OptionWords& option) {
  std::string text = begin;
  for (const std::string& name : option.names) {
    text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.value == OptionWords::Value::kFile) text += " -r -F";
  if (option.value == OptionWords::Value::kOther) text += " -x";
  if (!option.choices.empty()) text += " -a " + fish_word(join(option.choices, " "));
  return text + " -d " + fish_word(option.summary) + "\n";
}

std::string command_lines(const CommandWords& command) {
  std::string text =
      "complete -c hierbar -n __fish_use_subcommand -a " + command.name + " -d " + fish_word(command.summary) + "\n";
  const std::string begin = "complete -c hierbar -n '__hierbar_in " + command.name + "'";
  for (const OptionWords& option : command.options) text += option_line(begin, option);
  if (!command.choices.empty()) text += begin + " -a " + fish_word(join(command.choices, " ")) + "\n";
  if (command.takes_files) text += begin + " -F\n";
  if (!command.starts_program) return text;
  return text + "complete -c hierbar -n '__hierbar_behind_dashes " + command.name +
         "' -xa '(__fish_complete_subcommand --commandline (__hierbar_program))'\n";
}

constexpr const char* kFishBegin = R"(# fish completion for hierbar, made by 'hierbar completion fish'

# Whether the command is the named one, and the cursor is not behind '--'.
function __hierbar_in
    __fish_seen_subcommand_from $argv[1]; and not contains -- -- (commandline -opc)
end

function __hierbar_behind_dashes
    __fish_seen_subcommand_from $argv[1]; and contains -- -- (commandline -opc)
end

# The words behind '--', and the one that is being written.
function __hierbar_program
    set -l words (commandline -opc) (commandline -ct)
    set -l begin (contains -i -- -- $words)
    echo $words[(math $begin + 1)..-1]
end

complete -c hierbar -f
complete -c hierbar -n __fish_use_subcommand -s h -l help -d 'Show help'
complete -c hierbar -n __fish_use_subcommand -l version -d 'Show the version'
)";

}  // namespace

std::string fish_completion(const std::vector<CommandWords>& commands) {
  std::string text = kFishBegin;
  for (const CommandWords& command : commands) text += command_lines(command);
  return text;
}

}  // namespace hierbar
