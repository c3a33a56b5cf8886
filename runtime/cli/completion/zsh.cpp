// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/completion/shells.hpp"

namespace hierbar {
namespace {

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
    text += " \\\n        '" + list(option.names) + name + (is_long_with_value ? "=[" : "[") + zsh_text(option.summary) + "]" +
            value_word(option) + "'";
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

}  // namespace

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

}  // namespace hierbar
