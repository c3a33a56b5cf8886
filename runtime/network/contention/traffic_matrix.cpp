// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/traffic_matrix.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace hierbar::network {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr double kMostCell = 1e18;

Result<std::vector<double>> parse_row(const std::string& line, std::size_t number) {
  const auto refused = [&](const std::string& cell, const char* why) {
    return Error{"line " + std::to_string(number) + ": '" + cell.substr(0, 32) + "' is " + why};
  };
  std::vector<double> row;
  std::stringstream stream(line + (line.ends_with(',') ? " " : ""));
  for (std::string cell; std::getline(stream, cell, ',');) {
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    const bool is_empty = end == cell.c_str();
    while (*end == ' ' || *end == '\t') ++end;
    if (is_empty || *end != '\0' || !std::isfinite(value)) return refused(cell, "no number");
    if (value < 0) return refused(cell, "negative");
    if (value > kMostCell) return refused(cell, "larger than 1e18");
    row.push_back(value);
  }
  return row;
}

// Whether every line has as many numbers as there are lines; empty if so.
std::string not_square(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows.size()) {
      return "it is not square: " + std::to_string(rows.size()) + " lines, and " + std::to_string(rows[i].size()) +
             " numbers in row " + std::to_string(i + 1);
    }
  }
  return "";
}

std::vector<double> flat(const Rows& rows) {
  std::vector<double> cells;
  for (const auto& row : rows) cells.insert(cells.end(), row.begin(), row.end());
  return cells;
}

}  // namespace

Result<Traffic> parse_matrix(const std::string& text) {
  std::array<Rows, 2> matrices;
  bool has_messages = false;
  std::stringstream stream(text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("# messages")) has_messages = true;
    if (line.empty() || line.front() == '#') continue;
    Result<std::vector<double>> row = parse_row(line, number);
    if (!row) return Error{row.error()};
    Rows& rows = matrices[has_messages ? 1 : 0];
    rows.push_back(*std::move(row));
    if (rows.size() > kMostTrafficRanks) return Error{"it has more than " + std::to_string(kMostTrafficRanks) + " lines"};
  }
  if (matrices[0].empty()) return Error{"it has no numbers"};
  for (const Rows& rows : matrices) {
    if (const std::string problem = not_square(rows); !problem.empty()) return Error{problem};
  }
  if (has_messages && matrices[1].size() != matrices[0].size()) return Error{"its second matrix has another size than the first"};
  Traffic traffic{.what = Traffic::What::kMatrix,
                  .num_ranks = static_cast<std::uint32_t>(matrices[0].size()),
                  .bytes = flat(matrices[0]),
                  .messages = flat(matrices[1])};
  if (!has_messages) traffic.messages.assign(traffic.bytes.size(), 1);
  return traffic;
}

}  // namespace hierbar::network
