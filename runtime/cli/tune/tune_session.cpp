// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/tune_session.hpp"

#include <charconv>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "cli/option/option_values.hpp"

namespace hierbar {

void fail_tuning(const std::string& problem, int exit_code) {
  std::cerr << "hierbar tune: " << problem << '\n';
  throw CLI::RuntimeError(exit_code);
}

double read_time_limit(const TuneOptions& options) {
  constexpr double kLongest_s = 3600;
  double limit_s = 0;
  const char* end = options.time_limit.data() + options.time_limit.size();
  const auto [stop, error] = std::from_chars(options.time_limit.data(), end, limit_s);
  // This form also refuses "nan".
  if (error != std::errc() || stop != end || !(limit_s > 0 && limit_s <= kLongest_s)) {
    refuse(kTimeLimitOption, options.time_limit, "no such time", "seconds above 0, up to 3600");
  }
  return limit_s;
}

std::string output_path(const CLI::App& command, const TuneOptions& options, const ProfilePlace& place) {
  if (command.count(kOutputOption) > 0) {
    if (options.output.empty()) refuse(kOutputOption, options.output, "no name of a file", "the path of a file");
    return options.output;
  }
  const char* variable = trusted_variable(place.variable);
  const std::string named = variable == nullptr ? "" : variable;
  if (lower_word(named) == "off") {
    std::cerr << "hierbar tune: " << place.variable << "=off: " << place.user << " not use what is written now\n";
  }
  if (!named.empty() && lower_word(named) != "off") return named;
  if (place.default_path.empty()) {
    fail_tuning("neither XDG_CONFIG_HOME nor HOME is a directory; say with --output where the profile is to be");
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(place.default_path).parent_path(), error);
  return place.default_path;  // if the directory was not made, opening the file fails and reports it
}

}  // namespace hierbar
