// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/machine.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bench/common/statistics.hpp"
#include "plan/locality.hpp"

namespace hierbar::bench::model {

std::span<const ParameterInfo> parameter_infos() {
  static constexpr ParameterInfo kInfos[] = {
      {"latency_core", nullptr, Distance::kCore, 5, 20},
      {"latency_cluster", nullptr, Distance::kCluster, 15, 60},
      {"latency_domain", nullptr, Distance::kDomain, 25, 60},
      {"latency_package", nullptr, Distance::kPackage, 60, 110},
      {"latency_machine", nullptr, Distance::kMachine, 90, 200},
      {"read", &Parameters::read, {}, 0.6, 1.4},
      {"upgrade", &Parameters::upgrade, {}, 0.6, 1.4},
      {"invalidate", &Parameters::invalidate, {}, 0.2, 9},
      {"occupy_local", &Parameters::occupy_local, {}, 1, 30},
      {"occupy_remote", &Parameters::occupy_remote, {}, 1, 60},
      {"rmw", &Parameters::rmw, {}, 1, 30},
      {"contention", &Parameters::contention, {}, 0.5, 8},
      {"outstanding", &Parameters::outstanding, {}, 1, 24},
      {"store_buffer", &Parameters::store_buffer, {}, 1, 24},
      {"issue", &Parameters::issue, {}, 0.5, 12},
      {"notice", &Parameters::notice, {}, 1, 120},
      {"episode", &Parameters::episode, {}, 40, 400},
      {"agent", &Parameters::agent, {}, 0, 12},
      {"link", &Parameters::link, {}, 0, 12},
  };
  return kInfos;
}

namespace {

// The outermost unit strictly inside the domain that contains `core`, if several cores share it.
// Else the core.
int cluster_of(const Machine& machine, int core, int domain) {
  int cluster = core;
  for (int unit = core; unit >= 0 && unit != domain; unit = machine.units[unit].parent)
    cluster = unit;
  return is_shared_by_cores(machine.units[cluster]) ? cluster : core;
}

int enclosing(const Machine& machine, int unit, Level level) {
  while (unit > 0 && !machine.units[unit].has(level)) unit = machine.units[unit].parent;
  return unit;
}

}  // namespace

Result<Places> Places::make(const Machine& machine, const std::vector<CpuSet>& bindings) {
  const Level level = domain_level(machine, std::nullopt);
  std::map<int, std::uint32_t> domains;
  std::map<int, std::uint32_t> packages;
  Places result;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const int core = bindings[i].empty() ? -1 : machine.smallest_unit_containing(bindings[i]);
    if (core < 0 || is_shared_by_cores(machine.units[core])) {
      return Error{"participant " + std::to_string(i) + " is not bound to one core"};
    }
    const int domain = enclosing(machine, core, level);
    const int package = enclosing(machine, core, Level::kPackage);
    const auto package_number =
        packages.try_emplace(package, static_cast<std::uint32_t>(packages.size())).first->second;
    const auto [position, is_new] =
        domains.try_emplace(domain, static_cast<std::uint32_t>(domains.size()));
    if (is_new) result.package_of_domain_.push_back(package_number);
    result.places_.push_back(Place{static_cast<std::uint32_t>(core),
                                   static_cast<std::uint32_t>(cluster_of(machine, core, domain)),
                                   position->second, package_number});
  }
  return result;
}

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
    if (rows[i].size() > rows.size())
      return Error{"row " + std::to_string(i + 1) + " is longer than there are rows"};
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
      return Error{"the matrix has " + std::to_string(rows->size()) +
                   " rows, but the machine no cpu " + std::to_string(cpu)};
    }
    bindings[cpu].set(cpu);
  }
  const Result<Places> places = Places::make(machine, bindings);
  if (!places) return Error{places.error()};
  std::array<std::vector<double>, kNumDistances> samples;
  for (std::uint32_t i = 0; i < rows->size(); ++i) {
    for (std::uint32_t j = 0; j < (*rows)[i].size(); ++j) {
      const std::optional<double> latency = (*rows)[i][j];
      if (i != j && latency)
        samples[static_cast<std::size_t>(places->between(i, j))].push_back(*latency);
    }
  }
  LatencyMedians medians;
  for (std::size_t distance = 0; distance < kNumDistances; ++distance)
    medians[distance] = median(samples[distance]);
  return medians;
}

}  // namespace hierbar::bench::model
