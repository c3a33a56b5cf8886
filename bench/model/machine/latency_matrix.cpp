// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/latency_matrix.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <vector>

#include "bench/common/statistics.hpp"
#include "bench/model/machine/places.hpp"

namespace hierbar::bench::model {
namespace {

using Row = std::vector<std::optional<double>>;

Result<Row> parse_row(const std::string& line, std::size_t number) {
  Row row;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    double value = 0;
    const auto [stop, problem] = std::from_chars(line.data() + begin, line.data() + end, value);
    if (begin == end) {
      row.emplace_back();
    } else if (problem == std::errc() && stop == line.data() + end && value >= 0) {
      row.emplace_back(value);
    } else {
      return Error{"row " + std::to_string(number) + ": '" + line.substr(begin, end - begin) +
                   "'; allowed: a latency in ns, or nothing"};
    }
    begin = end + 1;
  }
  return row;
}

Result<std::vector<Row>> parse_rows(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) return Error{"cannot be read"};
  std::vector<Row> rows;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    Result<Row> row = parse_row(line, rows.size() + 1);
    if (!row) return Error{row.error()};
    rows.push_back(*std::move(row));
  }
  if (rows.size() < 2) return Error{"no matrix: " + std::to_string(rows.size()) + " rows"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() > rows.size()) return Error{"row " + std::to_string(i + 1) + " is longer than there are rows"};
  }
  return rows;
}

}  // namespace

Result<LatencyMedians> read_latency_matrix(const std::string& path, const Machine& machine) {
  const Result<std::vector<Row>> rows = parse_rows(path);
  if (!rows) return Error{rows.error()};
  std::vector<CpuSet> bindings(rows->size());
  for (std::uint32_t cpu = 0; cpu < bindings.size(); ++cpu) {
    if (!machine.present.test(cpu)) {
      return Error{"the matrix has " + std::to_string(rows->size()) + " rows, but the machine no cpu " + std::to_string(cpu)};
    }
    bindings[cpu].set(cpu);
  }
  const Result<Places> places = Places::make(machine, bindings);
  if (!places) return Error{places.error()};
  std::array<std::vector<double>, kNumDistances> samples;
  for (std::uint32_t i = 0; i < rows->size(); ++i) {
    for (std::uint32_t j = 0; j < (*rows)[i].size(); ++j) {
      const std::optional<double> latency = (*rows)[i][j];
      if (i != j && latency) samples[static_cast<std::size_t>(places->between(i, j))].push_back(*latency);
    }
  }
  LatencyMedians medians;
  for (std::size_t distance = 0; distance < kNumDistances; ++distance) medians[distance] = median(samples[distance]);
  return medians;
}

}  // namespace hierbar::bench::model
