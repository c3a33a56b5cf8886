// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/traffic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace hierbar::network {
namespace {

using What = Traffic::What;
using Algorithm = Traffic::Algorithm;

constexpr std::uint32_t kMostBlock = 65536;

struct Name {
  What what;
  const char* name;
};
constexpr std::array<Name, 4> kNames{{{What::kAllToAll, "alltoall"},
                                      {What::kOneToAll, "one-to-all"},
                                      {What::kAllToOne, "all-to-one"},
                                      {What::kHalo, "halo"}}};

std::uint64_t unit_of(char letter) {
  switch (letter) {
    case 'k':
    case 'K':
      return 1U << 10;
    case 'm':
    case 'M':
      return 1U << 20;
    case 'g':
    case 'G':
      return 1U << 30;
    default:
      return 0;
  }
}

void blocked_steps(const Traffic& traffic, std::uint32_t n,
                   const std::function<void(const FlowStep&)>& visit) {
  const std::uint32_t block = traffic.algorithm == Algorithm::kPairwise ? 1 : traffic.block;
  // The paper begins with the message to oneself, which is none here.
  for (std::uint32_t first = 1; first < n; first += block) {
    FlowStep step;
    for (std::uint32_t distance = first; distance < std::min(n, first + block); ++distance) {
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        step.push_back({rank, (rank + n - distance) % n, static_cast<double>(traffic.num_bytes)});
      }
    }
    visit(step);
  }
}

void bruck_steps(const Traffic& traffic, std::uint32_t n,
                 const std::function<void(const FlowStep&)>& visit) {
  for (std::uint32_t distance = 1; distance < n; distance *= 2) {
    std::uint64_t num_blocks = 0;
    for (std::uint32_t block = 1; block < n; ++block) num_blocks += (block & distance) != 0 ? 1 : 0;
    FlowStep step;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      step.push_back(
          {rank, (rank + distance) % n, static_cast<double>(num_blocks * traffic.num_bytes)});
    }
    visit(step);
  }
}

FlowStep halo_step(const Traffic& traffic, std::uint32_t n) {
  const Grid grid = grid_of(n);
  FlowStep step;
  const auto exchange = [&](std::uint32_t a, std::uint32_t b) {
    step.push_back({a, b, static_cast<double>(traffic.num_bytes)});
    step.push_back({b, a, static_cast<double>(traffic.num_bytes)});
  };
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    if (rank % grid.columns + 1 < grid.columns) exchange(rank, rank + 1);
    if (rank + grid.columns < n) exchange(rank, rank + grid.columns);
  }
  return step;
}

FlowStep star_step(const Traffic& traffic, std::uint32_t n) {
  FlowStep step;
  for (std::uint32_t rank = 1; rank < n; ++rank) {
    const bool out = traffic.what == What::kOneToAll;
    step.push_back({out ? 0 : rank, out ? rank : 0, static_cast<double>(traffic.num_bytes)});
  }
  return step;
}

FlowStep matrix_step(const Traffic& traffic) {
  FlowStep step;
  for (std::uint32_t from = 0; from < traffic.num_ranks; ++from) {
    for (std::uint32_t to = 0; to < traffic.num_ranks; ++to) {
      const std::size_t at = static_cast<std::size_t>(from) * traffic.num_ranks + to;
      if (from != to && traffic.bytes[at] > 0)
        step.push_back({from, to, traffic.bytes[at], std::max(1.0, traffic.messages[at])});
    }
  }
  return step;
}

}  // namespace

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || number > kMostTrafficBytes) return 0;
  if (stop != end) {
    const std::uint64_t unit = stop + 1 == end ? unit_of(*stop) : 0;
    if (unit == 0) return 0;
    number = number > kMostTrafficBytes / unit ? 0 : number * unit;
  }
  return number;
}

std::string size_text(std::uint64_t num_bytes) {
  for (const char letter : {'G', 'M', 'K'}) {
    if (num_bytes != 0 && num_bytes % unit_of(letter) == 0)
      return std::to_string(num_bytes / unit_of(letter)) + letter;
  }
  return std::to_string(num_bytes);
}

Result<Traffic> parse_traffic(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const Name& one : kNames) {
    if (name != one.name) continue;
    Traffic traffic{.what = one.what, .bytes = {}, .messages = {}};
    traffic.num_bytes = colon == std::string::npos ? 0 : parse_size(text.substr(colon + 1));
    if (traffic.num_bytes == 0) return Error{"it needs a size from 1 byte to 1024G"};
    return traffic;
  }
  return Error{"'" + name + "' is not a known pattern"};
}

Result<Traffic> with_algorithm(Traffic traffic, const std::string& text) {
  if (traffic.what != What::kAllToAll) return Error{"only an all-to-all has algorithms"};
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "blocked") {
    traffic.algorithm = Algorithm::kBlocked;
    if (colon == std::string::npos) return traffic;
    const std::uint64_t block = parse_size(text.substr(colon + 1));
    if (block == 0 || block > kMostBlock) return Error{"a block has 1 to 65536 messages"};
    traffic.block = static_cast<std::uint32_t>(block);
    return traffic;
  }
  if (text == "pairwise" || text == "bruck") {
    traffic.algorithm = text == "bruck" ? Algorithm::kBruck : Algorithm::kPairwise;
    return traffic;
  }
  return Error{"no such algorithm"};
}

std::string describe(const Traffic& traffic) {
  if (traffic.what == What::kMatrix)
    return "matrix of " + std::to_string(traffic.num_ranks) + " ranks";
  const auto named = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Name& one) { return one.what == traffic.what; });
  std::string text = std::string(named->name) + ":" + size_text(traffic.num_bytes);
  if (traffic.what != What::kAllToAll) return text;
  if (traffic.algorithm == Algorithm::kBlocked)
    return text + ", blocked:" + std::to_string(traffic.block);
  return text + (traffic.algorithm == Algorithm::kBruck ? ", bruck" : ", pairwise");
}

Grid grid_of(std::uint32_t num_ranks) {
  Grid grid{1, num_ranks};
  for (std::uint32_t rows = 1; rows * rows <= num_ranks; ++rows) {
    if (num_ranks % rows == 0) grid = {rows, num_ranks / rows};
  }
  return grid;
}

void for_each_step(const Traffic& traffic, std::uint32_t num_ranks,
                   const std::function<void(const FlowStep&)>& visit) {
  switch (traffic.what) {
    case What::kAllToAll:
      return traffic.algorithm == Algorithm::kBruck ? bruck_steps(traffic, num_ranks, visit)
                                                    : blocked_steps(traffic, num_ranks, visit);
    case What::kOneToAll:
    case What::kAllToOne:
      return visit(star_step(traffic, num_ranks));
    case What::kHalo:
      return visit(halo_step(traffic, num_ranks));
    case What::kMatrix:
      return visit(matrix_step(traffic));
  }
}

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
      return "it is not square: " + std::to_string(rows.size()) + " lines, and " +
             std::to_string(rows[i].size()) + " numbers in row " + std::to_string(i + 1);
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
    if (rows.size() > kMostTrafficRanks)
      return Error{"it has more than " + std::to_string(kMostTrafficRanks) + " lines"};
  }
  if (matrices[0].empty()) return Error{"it has no numbers"};
  for (const Rows& rows : matrices) {
    if (const std::string problem = not_square(rows); !problem.empty()) return Error{problem};
  }
  if (has_messages && matrices[1].size() != matrices[0].size())
    return Error{"its second matrix differs in size from the first"};
  Traffic traffic{.what = Traffic::What::kMatrix,
                  .num_ranks = static_cast<std::uint32_t>(matrices[0].size()),
                  .bytes = flat(matrices[0]),
                  .messages = flat(matrices[1])};
  if (!has_messages) traffic.messages.assign(traffic.bytes.size(), 1);
  return traffic;
}

}  // namespace hierbar::network
