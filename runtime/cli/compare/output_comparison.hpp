// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hierbar {

// In what a program's outputs of two ways to run it differ.
struct OutputDifference {
  enum class Kind {
    kNone,
    kNumbers,      // some lines, but only in numbers
    kOrder,        // the same lines in another order
    kLines,        // some lines
    kNumLines,     // one way prints more lines
    kNotCompared,  // as it is, the program prints now more and now fewer lines
  };
  Kind kind = Kind::kNone;
  std::size_t num_lines = 0;     // that differ; kNumLines: that the other way printed
  std::size_t num_compared = 0;  // that were compared; kNumLines: that the program printed as it is
  std::size_t first_line = 0;    // the first that differs, from 1
  std::string as_it_is{};        // this line of the program as it is
  std::string other{};           // and of the other way
  double largest = 0;            // kNumbers: by how much of its value a number differs at most
};

// Compares what a program prints as it is with what it prints another way, line by line. Lines in
// which the runs as it is differ among themselves are left out, and so are those for which
// `is_ignored` holds on both sides. It keeps two outputs at most.
class OutputComparison {
 public:
  using IsIgnored = std::function<bool(const std::string& line)>;
  explicit OutputComparison(IsIgnored is_ignored = {}) : is_ignored_(std::move(is_ignored)) {}

  // The first call is the first of these two.
  void add_as_it_is(std::string_view output);
  void add_other(std::string_view output);

  OutputDifference result() const;

 private:
  using Lines = std::vector<std::string>;

  IsIgnored is_ignored_;
  std::optional<Lines> reference_;  // of the first run as it is
  std::vector<bool> varies_;        // by line of the reference
  bool num_lines_vary_ = false;
  bool order_varies_ = false;
  std::map<std::size_t, std::string> differing_;  // an example for each line, from 0
  std::optional<std::size_t> other_num_lines_;
  bool is_other_order_ = false;
};

// By how much of its value a number of one line differs from the other line's at most. Nothing if
// the lines differ in something else.
std::optional<double> numbers_apart(std::string_view one, std::string_view other);

}  // namespace hierbar
