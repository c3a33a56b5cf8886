// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/program/program.hpp"

namespace CLI {
class App;
}

namespace hierbar {
namespace {

// What a shell has to know of an option.
struct OptionWords {
  enum class Value { kNone, kFile, kOther };
  std::vector<std::string> names;    // with their dashes
  std::string summary;               // one line
  Value value = Value::kNone;        // whether it takes one, and whether that names a file
  std::vector<std::string> choices;  // the words that the value may be; empty if it is no such word
};

struct CommandWords {
  std::string name;
  std::string summary;
  std::vector<OptionWords> options;
  std::vector<std::string> choices;  // of its argument
  bool takes_files = false;
  bool starts_program = false;  // behind "--"
};

// The first clause: what stands before the first line break, colon or semicolon.
std::string first_clause(const std::string& text) {
  return text.substr(0, text.find_first_of("\n:;"));
}

// The words of "close|spread". Type names that stand for something else, as in XML|DESCRIPTION, are
// written in capitals.
std::vector<std::string> choices_of(const std::string& type_name) {
  const bool is_list = type_name.find('|') != std::string::npos &&
                       std::none_of(type_name.begin(), type_name.end(),
                                    [](char c) { return (c >= 'A' && c <= 'Z') || c == ' '; });
  std::vector<std::string> choices;
  if (!is_list) return choices;
  std::istringstream words(type_name);
  for (std::string word; std::getline(words, word, '|');) choices.push_back(word);
  return choices;
}

bool names_file(const std::string& type_name) {
  return type_name.rfind("FILE", 0) == 0 || type_name.rfind("XML", 0) == 0;
}

OptionWords describe(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.summary = first_clause(option.get_description());
  if (option.get_items_expected_max() == 0) return words;
  words.value =
      names_file(option.get_type_name()) ? OptionWords::Value::kFile : OptionWords::Value::kOther;
  words.choices = choices_of(option.get_type_name());
  return words;
}

CommandWords describe(const CLI::App& command) {
  CommandWords words;
  words.name = command.get_name();
  words.summary = first_clause(command.get_description());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // refuse_name()
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

// All commands of the program, in the order of its help, as they were declared to CLI11. A value's
// type name, which help shows, says what it can be: alternatives such as "close|spread", or FILE.
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

// Bash takes "--mpi=auto" for three words, because '=' is in COMP_WORDBREAKS.
constexpr const char* kBashBegin =
    R"bash(# bash completion for hierbar, made by 'hierbar completion bash'

_hierbar() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} words='' files='' i
  COMPREPLY=()
  for ((i = 2; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    case $command in
      @PROGRAMS@) _hierbar_program "$((i + 1))" ;;
    esac
    return
  done
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  ((COMP_CWORD > 1)) || command=''
  case $command:$before in
)bash";

constexpr const char* kEnd = R"bash(  esac
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ -z $files ]] || _hierbar_files "$word"
}

_hierbar_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$1")
}

# The words behind '--' are completed as if they stood alone, where bash-completion is loaded.
_hierbar_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    _hierbar_files "${COMP_WORDS[COMP_CWORD]}"
  fi
}

complete -F _hierbar hierbar
)bash";

// A branch for each option with a value, then one for all other words of the command.
std::string branches(const CommandWords& command) {
  std::string text;
  std::vector<std::string> words = command.choices;
  for (const OptionWords& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (option.value == OptionWords::Value::kNone) continue;
    const std::string pattern = command.name + ":" + join(option.names, " | " + command.name + ":");
    std::string action = ":";
    if (!option.choices.empty()) action = "words='" + join(option.choices, " ") + "'";
    if (option.value == OptionWords::Value::kFile) action = "files=1";
    text += "    " + pattern + ") " + action + " ;;\n";
  }
  if (command.starts_program) words.emplace_back("--");
  return text + "    " + command.name + ":*) words='" + join(words, " ") + "'" +
         (command.takes_files ? " files=1" : "") + " ;;\n";
}

// The script with which a shell completes the words of `hierbar`.
std::string bash_completion(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names{"--help", "--version"};
  std::vector<std::string> starters;
  std::string text;
  for (const CommandWords& command : commands) {
    text += branches(command);
    names.push_back(command.name);
    if (command.starts_program) starters.push_back(command.name);
  }
  std::string begin = kBashBegin;
  const std::string mark = "@PROGRAMS@";
  begin.replace(begin.find(mark), mark.size(), join(starters, " | "));
  return begin + text + "    :*) words='" + join(names, " ") + "' ;;\n" + kEnd;
}

// A text inside [...] of a specification inside '...'.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

std::string list(const std::vector<std::string>& words) { return "(" + join(words, " ") + ")"; }

std::string value_word(const OptionWords& option) {
  if (option.value == OptionWords::Value::kNone) return "";
  if (!option.choices.empty()) return ":value:" + list(option.choices);
  return option.value == OptionWords::Value::kFile ? ":file:_files" : ":value: ";
}

// One specification for each name; a name excludes the others of its option.
std::string specifications(const OptionWords& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long_with_value = option.value != OptionWords::Value::kNone && name[1] == '-';
    text += " \\\n        '" + list(option.names) + name + (is_long_with_value ? "=[" : "[") +
            zsh_text(option.summary) + "]" + value_word(option) + "'";
  }
  return text;
}

std::string branch(const CommandWords& command) {
  std::string text = "    " + command.name + ")\n      _arguments -S";
  for (const OptionWords& option : command.options) text += specifications(option);
  if (!command.choices.empty()) text += " \\\n        '1:value:" + list(command.choices) + "'";
  if (command.takes_files) text += " \\\n        '*:file:_files'";
  return text + " ;;\n";
}

// The file is run by itself, or read as a function.
constexpr const char* kZshEnd = R"zsh(}

if [[ $funcstack[1] == _hierbar ]]; then
  _hierbar "$@"
else
  compdef _hierbar hierbar
fi
)zsh";

std::string zsh_completion(const std::vector<CommandWords>& commands) {
  std::string names;
  std::string branches;
  std::vector<std::string> starters;
  for (const CommandWords& command : commands) {
    names += "    '" + zsh_text(command.name) + ":" + zsh_text(command.summary) + "'\n";
    branches += branch(command);
    if (command.starts_program) starters.push_back(command.name);
  }
  return "#compdef hierbar\n"
         "# zsh completion for hierbar, made by 'hierbar completion zsh'\n"
         "\n"
         "_hierbar() {\n"
         "  local context state state_descr line\n"
         "  typeset -A opt_args\n"
         "  local -a subcommands=(\n" +
         names +
         "  )\n"
         "  _arguments -C '(- *)'{-h,--help}'[Show help]' '(- *)--version[Show the version]' \\\n"
         "    '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n"
         "    command) _describe command subcommands && return ;;\n"
         "    argument) ;;\n"
         "    *) return ;;\n"
         "  esac\n"
         "  # The words behind '--' are completed as if they stood alone.\n"
         "  local -i dashes=${words[(i)--]}\n"
         "  if [[ $line[1] == (" +
         join(starters, "|") +
         ") ]] && (( dashes < CURRENT )); then\n"
         "    shift $dashes words\n"
         "    (( CURRENT -= dashes ))\n"
         "    _normal\n"
         "    return\n"
         "  fi\n"
         "  case $line[1] in\n" +
         branches + "  esac\n" + kZshEnd;
}

std::string fish_word(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
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
  std::string text = "complete -c hierbar -n __fish_use_subcommand -a " + command.name + " -d " +
                     fish_word(command.summary) + "\n";
  const std::string begin = "complete -c hierbar -n '__hierbar_in " + command.name + "'";
  for (const OptionWords& option : command.options) text += option_line(begin, option);
  if (!command.choices.empty())
    text += begin + " -a " + fish_word(join(command.choices, " ")) + "\n";
  if (command.takes_files) text += begin + " -F\n";
  if (!command.starts_program) return text;
  return text + "complete -c hierbar -n '__hierbar_behind_dashes " + command.name +
         "' -xa '(__fish_complete_subcommand --commandline (__hierbar_program))'\n";
}

constexpr const char* kFishBegin =
    R"(# fish completion for hierbar, made by 'hierbar completion fish'

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

std::string fish_completion(const std::vector<CommandWords>& commands) {
  std::string text = kFishBegin;
  for (const CommandWords& command : commands) text += command_lines(command);
  return text;
}

constexpr const char* kShells = "bash|zsh|fish";

void print(const std::string& shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") {
    std::cout << bash_completion(commands);
  } else if (shell == "zsh") {
    std::cout << zsh_completion(commands);
  } else if (shell == "fish") {
    std::cout << fish_completion(commands);
  } else {
    refuse("SHELL", shell, "not a supported shell", "bash, zsh, fish");
  }
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "completion", "Print the script with which a shell completes these commands");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Which shell")->required()->type_name(kShells);
  command->footer(
      "An installation has the scripts where each shell looks for them. In a build, or if the "
      "shell does not find them:\n"
      "  eval \"$(hierbar completion bash)\"\n"
      "  source <(hierbar completion zsh)\n"
      "  hierbar completion fish | source\n");
  command->callback([&app, shell] { print(*shell, describe_commands(app)); });
}

}  // namespace hierbar
