// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/completion/completion_command.hpp"

#include <iostream>
#include <memory>

#include "cli/completion/shells.hpp"
#include "cli/option/option_values.hpp"

namespace hierbar {
namespace {

constexpr const char* kShells = "bash|zsh|fish";

void print(const std::string& shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") {
    std::cout << bash_completion(commands);
  } else if (shell == "zsh") {
    std::cout << zsh_completion(commands);
  } else if (shell == "fish") {
    std::cout << fish_completion(commands);
  } else {
    refuse("SHELL", shell, "no shell that can be told", "bash, zsh, fish");
  }
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print the script with which a shell completes these commands");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Which shell")->required()->type_name(kShells);
  command->footer(
      "An installation has the scripts where each shell looks for them. From a build, or where that is not so:\n"
      "  eval \"$(hierbar completion bash)\"\n"
      "  source <(hierbar completion zsh)\n"
      "  hierbar completion fish | source\n");
  command->callback([&app, shell] { print(*shell, describe_commands(app)); });
}

}  // namespace hierbar
