// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/completion/shells.hpp"

namespace hierbar {
namespace {

// Bash takes "--mpi=auto" for three words, because '=' is in COMP_WORDBREAKS.
constexpr const char* kBashBegin = R"bash(# bash completion for hierbar, made by 'hierbar completion bash'

_hierbar() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words='' files='' i
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
  return text + "    " + command.name + ":*) words='" + join(words, " ") + "'" + (command.takes_files ? " files=1" : "") +
         " ;;\n";
}

}  // namespace

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

}  // namespace hierbar
