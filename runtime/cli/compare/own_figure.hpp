// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hierbar {

// A figure that a program prints about itself, such as the time of its main loop.
class OwnFigure {
 public:
  // An ECMAScript expression with one group, in which the number stands: "Time: ([0-9.]+) s".
  // Errors: it is no expression, or has another number of groups.
  static Result<OwnFigure> parse(const std::string& expression);

  // The number in the last match. Lines are matched one by one.
  // Errors: no line matches, or what stands in the group is no number above 0.
  Result<double> read(std::string_view output) const;

  // Whether the line has a match. Such lines differ from run to run.
  bool is_in(const std::string& line) const;

 private:
  OwnFigure(std::regex expression, std::string text)
      : expression_(std::move(expression)), text_(std::move(text)) {}

  std::regex expression_;
  std::string text_;
};

// Which lines of what a program prints are its result. Others may be times, dates and progress.
class ResultLines {
 public:
  // An ECMAScript expression. Errors: it is none.
  static Result<ResultLines> parse(const std::string& expression);

  // The lines that have a match.
  // Errors: there are none, so that nothing would be compared.
  Result<std::string> read(std::string_view output) const;

 private:
  ResultLines(std::regex expression, std::string text)
      : expression_(std::move(expression)), text_(std::move(text)) {}

  std::regex expression_;
  std::string text_;
};

}  // namespace hierbar
