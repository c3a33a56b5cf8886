// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/launched_ranks.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/program/started_program.hpp"

namespace hierbar {
namespace {

constexpr std::string_view kHostOptions[] = {"-f", "-host", "-hosts", "-hostlist", "-hostfile", "-machine", "-machinefile"};
constexpr const char* kHostVariables[] = {"HYDRA_HOST_FILE", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"};

// The launcher's options before a program: `part` is the launcher and what stands between two ':'.
std::optional<std::uint32_t> ranks_of_part(const Program& part) {
  const std::size_t end = find_started_program(part).first_word;
  std::optional<std::uint32_t> ranks;
  for (std::size_t i = 1; i + 1 < end; ++i) {
    const std::string& option = part[i];
    if (std::find(std::begin(kHostOptions), std::end(kHostOptions), option) != std::end(kHostOptions)) return std::nullopt;
    if (option != "-n" && option != "-np") continue;
    const std::string& text = part[i + 1];
    std::uint32_t number = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || last != text.data() + text.size()) return std::nullopt;
    ranks = number;
  }
  return ranks;
}

}  // namespace

std::optional<std::uint32_t> ranks_on_this_node(const Program& command, const Environment& environment) {
  if (std::any_of(std::begin(kHostVariables), std::end(kHostVariables),
                  [&](const char* name) { return environment(name) != nullptr; })) {
    return std::nullopt;
  }
  std::uint32_t sum = 0;
  for (auto begin = command.begin() + 1;;) {
    const auto end = std::find(begin, command.end(), ":");
    Program part = {command.front()};
    part.insert(part.end(), begin, end);
    const std::optional<std::uint32_t> ranks = ranks_of_part(part);
    if (!ranks) return std::nullopt;
    sum += *ranks;
    if (end == command.end()) return sum;
    begin = end + 1;
  }
}

}  // namespace hierbar
