// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/parameters.hpp"

#include <array>
#include <string_view>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

struct Name {
  const char* name;
  double Parameters::* value;
  bool is_needed;
};

constexpr std::array<Name, 5> kNames{{{"L", &Parameters::latency_us, true},
                                      {"o_s", &Parameters::send_overhead_us, true},
                                      {"o_r", &Parameters::receive_overhead_us, true},
                                      {"g", &Parameters::gap_us, true},
                                      {"G", &Parameters::gap_per_byte_us, false}}};

// This form also refuses "nan".
bool is_in_range(double value) { return value >= 0 && value <= kMostParameter_us; }

// -1 if the text is no number in the range.
double read_number(std::string_view text) {
  double number = 0;
  return parse_whole(text, number) && is_in_range(number) ? number : -1;
}

// Reads one "NAME=VALUE". Returns what is wrong with it, or an empty string.
std::string read_pair(std::string_view pair, Parameters& parameters,
                      std::array<bool, kNames.size()>& seen) {
  const std::size_t equals = pair.find('=');
  const std::string_view name = pair.substr(0, equals);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name != kNames[i].name) continue;
    if (seen[i]) return "'" + std::string(name) + "' is given twice";
    seen[i] = true;
    const double value =
        equals == std::string_view::npos ? -1 : read_number(pair.substr(equals + 1));
    if (value < 0) return "'" + std::string(pair) + "' needs a number from 0 to 1e9";
    parameters.*kNames[i].value = value;
    return "";
  }
  return "'" + std::string(name) + "' is not a parameter";
}

}  // namespace

Result<Parameters> parse_parameters(const std::string& text) {
  Parameters parameters;
  std::array<bool, kNames.size()> seen{};
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    if (std::string problem = read_pair(rest.substr(0, comma), parameters, seen); !problem.empty())
      return Error{problem};
    if (more) rest.remove_prefix(comma + 1);
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].is_needed && !seen[i])
      return Error{"'" + std::string(kNames[i].name) + "' is missing"};
  }
  return parameters;
}

std::string describe(const Parameters& parameters) {
  std::string text;
  for (const Name& name : kNames) {
    const bool per_byte = name.value == &Parameters::gap_per_byte_us;
    if (per_byte) text += " us";
    text += (text.empty() ? "" : ", ") + std::string(name.name) + " " +
            format_text("%.6g", parameters.*name.value);
  }
  return text + " us/byte";
}

bool is_valid(const Parameters& parameters) {
  for (const Name& name : kNames) {
    if (!is_in_range(parameters.*name.value)) return false;
  }
  return true;
}

}  // namespace hierbar::network
