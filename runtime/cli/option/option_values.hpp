// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace hierbar {

inline constexpr const char* kNodesOption = "--nodes";

// The most that options take for a rank's threads.
inline constexpr std::uint32_t kMaxThreads = 65536;

// Ends the command with a message that names the option, its value, the problem and the allowed
// values.
[[noreturn]] inline void refuse(const std::string& option, const std::string& value, const std::string& problem,
                                const std::string& allowed) {
  throw CLI::ValidationError(option, "'" + value + "': " + problem + "; allowed: " + allowed);
}

template <typename T>
T accept(Result<T> result, const std::string& option, const std::string& value, const std::string& allowed) {
  if (!result) refuse(option, value, result.error(), allowed);
  return *std::move(result);
}

// 0 if the text is not a number from 1 to `most`.
inline std::uint32_t parse_count(const std::string& text, std::uint32_t most) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end && number <= most ? number : 0;
}

inline int parse_pid(const std::string& option, const std::string& text) {
  constexpr std::uint32_t kMostPid = 1U << 30;
  const std::uint32_t pid = parse_count(text, kMostPid);
  if (pid == 0) refuse(option, text, "no process number", "the number of a process, as ps shows it");
  return static_cast<int>(pid);
}

}  // namespace hierbar
