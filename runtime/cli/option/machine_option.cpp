// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/machine_option.hpp"

#include <charconv>
#include <iostream>
#include <vector>

#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "topology/load.hpp"

namespace hierbar {

std::vector<std::uint32_t> parse_counts(const std::string& option, const std::string& text,
                                        std::uint32_t most) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& word : lower_words(text, ',')) {
    numbers.push_back(parse_count(word, most));
    if (numbers.back() == 0) {
      refuse(option, text, "'" + word + "' is not a valid number",
             "a comma list of 1 to " + std::to_string(most));
    }
  }
  return numbers;
}

double parse_time_limit(const std::string& text) {
  constexpr double kLongest_s = 3600;
  double limit_s = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, limit_s);
  // This form also refuses "nan".
  if (error != std::errc() || stop != end || !(limit_s > 0 && limit_s <= kLongest_s))
    refuse(kTimeLimitOption, text, "not a valid time", "seconds above 0, up to 3600");
  return limit_s;
}

void refuse_name(CLI::App& command, const std::string& names, const std::string& instead) {
  command
      .add_option_function<std::vector<std::string>>(
          names,
          [names, instead](const std::vector<std::string>&) {
            throw CLI::ValidationError(names, "is called " + instead);
          })
      ->expected(0, 1)
      ->trigger_on_parse()
      ->group("");  // not in the help
}

void add_machine_option(CLI::App& command, std::string& description) {
  command
      .add_option(kTopologyOption, description,
                  std::string("Another machine than this one: ") + kAllowedTopologies +
                      "; default: HIERBAR_TOPOLOGY if set, else this machine")
      ->type_name("XML|DESCRIPTION");
}

Machine load_chosen_machine(const CLI::App& command, const std::string& description) {
  const bool given = command.count(kTopologyOption) > 0;
  Result<Machine> machine = given ? load_described_machine(description)
                                  : load_machine(trusted_variable("HIERBAR_TOPOLOGY"));
  if (!machine.ok()) {
    std::cerr << "hierbar: " << (given ? std::string(kTopologyOption) + ": " : "")
              << machine.error() << '\n';
    throw CLI::RuntimeError(kExitBadInput);
  }
  for (const std::string& warning : machine->warnings) std::cerr << "hierbar: " << warning << '\n';
  return *std::move(machine);
}

}  // namespace hierbar
