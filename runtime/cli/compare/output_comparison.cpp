// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/output_comparison.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace hierbar {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool are_same_lines(std::vector<std::string> some, std::vector<std::string> others) {
  if (some.size() != others.size()) return false;
  std::sort(some.begin(), some.end());
  std::sort(others.begin(), others.end());
  return some == others;
}

bool begins_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty()) return false;
  return is_digit(text[0]) || (text.size() > 1 && text[0] == '.' && is_digit(text[1]));
}

// Takes the number off the beginning. Requires begins_number().
double take_number(std::string_view& text) {
  double number = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return problem == std::errc() ? number : HUGE_VAL;
}

}  // namespace

std::optional<double> numbers_apart(std::string_view one, std::string_view other) {
  double largest = 0;
  while (!one.empty() && !other.empty()) {
    if (begins_number(one) && begins_number(other)) {
      const double a = take_number(one);
      const double b = take_number(other);
      if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
      if (a != b) largest = std::max(largest, std::abs(a - b) / std::max(std::abs(a), std::abs(b)));
    } else {
      if (one.front() != other.front()) return std::nullopt;
      one.remove_prefix(1);
      other.remove_prefix(1);
    }
  }
  if (!one.empty() || !other.empty()) return std::nullopt;
  return largest;
}

void OutputComparison::add_as_it_is(std::string_view output) {
  Lines lines = lines_of(output);
  if (!reference_) {
    varies_.resize(lines.size());
    reference_ = std::move(lines);
    return;
  }
  if (lines.size() != reference_->size()) {
    num_lines_vary_ = true;
    return;
  }
  if (lines == *reference_) return;
  order_varies_ = order_varies_ || are_same_lines(lines, *reference_);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != (*reference_)[i]) varies_[i] = true;
  }
}

void OutputComparison::add_other(std::string_view output) {
  const Lines lines = lines_of(output);
  if (lines == *reference_) return;
  if (lines.size() != reference_->size()) {
    if (!other_num_lines_) other_num_lines_ = lines.size();
  } else if (are_same_lines(lines, *reference_)) {
    is_other_order_ = true;
  } else {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] == (*reference_)[i]) continue;
      if (is_ignored_ && is_ignored_(lines[i]) && is_ignored_((*reference_)[i])) continue;
      differing_.emplace(i, lines[i]);
    }
  }
}

OutputDifference OutputComparison::result() const {
  using Kind = OutputDifference::Kind;
  if (!reference_) return {};
  if (num_lines_vary_) return {.kind = Kind::kNotCompared};
  if (other_num_lines_)
    return {.kind = Kind::kNumLines,
            .num_lines = *other_num_lines_,
            .num_compared = reference_->size()};
  OutputDifference difference{
      .num_compared = static_cast<std::size_t>(std::count(varies_.begin(), varies_.end(), false))};
  for (const auto& [index, line] : differing_) {
    if (varies_[index]) continue;
    const std::string& expected = (*reference_)[index];
    const std::optional<double> apart = numbers_apart(expected, line);
    if (++difference.num_lines == 1) {
      difference.kind = Kind::kNumbers;
      difference.first_line = index + 1;
      difference.as_it_is = expected;
      difference.other = line;
    }
    if (!apart) difference.kind = Kind::kLines;
    difference.largest = std::max(difference.largest, apart.value_or(0));
  }
  if (difference.num_lines == 0 && is_other_order_ && !order_varies_)
    difference.kind = Kind::kOrder;
  return difference;
}

}  // namespace hierbar
