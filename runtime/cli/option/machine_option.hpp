// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Names of options that several commands have. docs/words.md lists all options: each has one
// meaning in all commands, and its help begins with the words of the list.
inline constexpr const char* kNodesOption = "--nodes";
inline constexpr const char* kPerNodeOption = "--per-node";
inline constexpr const char* kParticipantsOption = "--participants";
inline constexpr const char* kTrafficOption = "--traffic";
inline constexpr const char* kTimeLimitOption = "--time-limit";

// The most that options take for a rank's threads.
inline constexpr std::uint32_t kMaxThreads = 65536;

// Ends the command with a message that names the option, its value, the problem and the allowed
// values.
[[noreturn]] inline void refuse(const std::string& option, const std::string& value,
                                const std::string& problem, const std::string& allowed) {
  throw CLI::ValidationError(option, "'" + value + "': " + problem + "; allowed: " + allowed);
}

template <typename T>
T accept(Result<T> result, const std::string& option, const std::string& value,
         const std::string& allowed) {
  if (!result) refuse(option, value, result.error(), allowed);
  return *std::move(result);
}

// 0 if the text is not a number from 1 to `most`.
inline std::uint32_t parse_count(const std::string& text, std::uint32_t most) {
  std::uint32_t number = 0;
  return parse_whole(text, number) && number <= most ? number : 0;
}

// The numbers of a comma list, each from 1 to `most`. Ends the command if there is anything else.
std::vector<std::uint32_t> parse_counts(const std::string& option, const std::string& text,
                                        std::uint32_t most);

// The seconds of --time-limit. Ends the command if they are not above 0 and up to 3600.
double parse_time_limit(const std::string& text);

inline int parse_pid(const std::string& option, const std::string& text) {
  constexpr std::uint32_t kMostPid = 1U << 30;
  const std::uint32_t pid = parse_count(text, kMostPid);
  if (pid == 0)
    refuse(option, text, "not a process number", "the number of a process, as ps shows it");
  return static_cast<int>(pid);
}

// Makes names that an option does not have here an error that tells the one that it has.
// `instead`: "--per-node, ranks of a node".
void refuse_name(CLI::App& command, const std::string& names, const std::string& instead);

// The exit code of `hierbar` for bad options and bad input.
inline constexpr int kExitBadInput = 2;

inline constexpr const char* kTopologyOption = "--topology";

// Adds --topology to a subcommand. `description` must live as long as the command.
void add_machine_option(CLI::App& command, std::string& description);

// The machine that --topology describes. Without --topology, the machine that HIERBAR_TOPOLOGY
// describes. Warnings go to stderr. If HIERBAR_TOPOLOGY is bad, the live machine is used, as in
// programs. If --topology is bad, a message goes to stderr, and CLI::RuntimeError with
// kExitBadInput is thrown.
Machine load_chosen_machine(const CLI::App& command, const std::string& description);

}  // namespace hierbar
