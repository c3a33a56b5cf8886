// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/measured_splits.hpp"

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

namespace hierbar {
namespace {

// 0 if the text is not a time.
double parse_time(const std::string& text) {
  double us = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, us);
  return problem == std::errc() && stop == end && std::isfinite(us) && us > 0 ? us : 0;
}

bool overlap(const Quartiles& one, const Quartiles& other) { return one.lower <= other.upper && other.lower <= one.upper; }

}  // namespace

std::string add_measured(const std::string& text, std::vector<PredictedSplit>& splits) {
  std::map<std::string, std::vector<double>> runs;
  for (const PredictedSplit& one : splits) runs[network::describe(one.split)];
  std::istringstream lines(text);
  int number = 0, num_runs = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::string where = "line " + std::to_string(number) + ": ";
    const std::size_t comma = line.find(',');
    const std::string split = line.substr(0, comma);
    const double us = comma == std::string::npos ? 0 : parse_time(line.substr(comma + 1));
    if (us == 0) return where + "'" + line + "' is not SPLIT,MICROSECONDS";
    const auto found = runs.find(split);
    if (found == runs.end()) return where + "'" + split + "' is none of the predicted splits";
    found->second.push_back(us);
    ++num_runs;
  }
  if (num_runs == 0) return "it has no runs";
  for (PredictedSplit& one : splits) {
    const std::vector<double>& times = runs.at(network::describe(one.split));
    if (!times.empty()) one.measured_us = quartiles_of(times);
  }
  return "";
}

Agreement compare_with_measured(const std::vector<PredictedSplit>& splits) {
  Agreement agreement;
  int num_pairs = 0, balance = 0;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (!splits[i].measured_us) continue;
    const double predicted = splits[i].prediction.time_us.median, measured = splits[i].measured_us->median;
    ++agreement.num_splits;
    agreement.mean_error += std::abs(predicted / measured - 1);
    for (std::size_t j = 0; j < i; ++j) {
      if (!splits[j].measured_us || overlap(*splits[i].measured_us, *splits[j].measured_us)) continue;
      ++num_pairs;
      balance += (predicted < splits[j].prediction.time_us.median) == (measured < splits[j].measured_us->median) ? 1 : -1;
    }
  }
  if (agreement.num_splits > 0) agreement.mean_error /= agreement.num_splits;
  if (num_pairs > 0) agreement.kendall_tau = static_cast<double>(balance) / num_pairs;
  return agreement;
}

}  // namespace hierbar
