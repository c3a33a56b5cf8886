// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/own_figure.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

namespace hierbar {
namespace {

// std::regex needs stack space for each character, so very long lines are passed over.
constexpr std::size_t kLongestLine = 16384;

bool is_match(const std::string& line, const std::regex& expression) {
  return line.size() <= kLongestLine && std::regex_search(line, expression);
}

Error no_match(const std::string& expression) {
  return Error{"no line of the program's output matches '" + expression + "'"};
}

}  // namespace

Result<OwnFigure> OwnFigure::parse(const std::string& expression) try {
  std::regex parsed(expression, std::regex::ECMAScript);
  if (parsed.mark_count() != 1)
    return Error{"it has " + std::to_string(parsed.mark_count()) + " groups in parentheses"};
  return OwnFigure(std::move(parsed), expression);
} catch (const std::regex_error& error) {
  return Error{"no regular expression"};
}

Result<double> OwnFigure::read(std::string_view output) const {
  std::optional<std::string> last;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > kLongestLine) continue;
    const std::sregex_iterator none;
    for (std::sregex_iterator match(line.begin(), line.end(), expression_); match != none; ++match)
      last = (*match)[1].str();
  }
  if (!last) return no_match(text_);
  double number = 0;
  const char* end = last->data() + last->size();
  const auto [stop, problem] = std::from_chars(last->data(), end, number);
  if (problem != std::errc() || stop != end || !std::isfinite(number) || number <= 0)
    return Error{"'" + *last + "', which '" + text_ + "' found, is no number above 0"};
  return number;
}

bool OwnFigure::is_in(const std::string& line) const { return is_match(line, expression_); }

Result<ResultLines> ResultLines::parse(const std::string& expression) try {
  return ResultLines(std::regex(expression, std::regex::ECMAScript), expression);
} catch (const std::regex_error& error) {
  return Error{"no regular expression"};
}

Result<std::string> ResultLines::read(std::string_view output) const {
  std::string found;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    if (is_match(line, expression_)) found += line + '\n';
  }
  if (found.empty()) return no_match(text_);
  return found;
}

}  // namespace hierbar
