// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/measure.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

constexpr std::uint32_t kNumMessages = 16;
constexpr std::uint32_t kNumWarmUps = 3;
// L is the half of a difference of which a round trip is most, so that one is measured well.
constexpr std::uint32_t kFewestRoundTrips = 11;
// Below the eager limits of the usual libraries (4 to 64 KiB): above, a send waits for the
// receiver.
constexpr std::array<std::uint32_t, 5> kSizes{1, 512, 1024, 2048, 4000};
// The network sets the pace if the time between messages is so much above the larger overhead.
constexpr double kClearlyAbove = 1.2;

struct Line {
  double intercept = 0;
  double slope = 0;
};

// The line of least squares.
Line fit(const std::vector<std::pair<double, double>>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto count = static_cast<double>(points.size());
  for (const auto& [at, value] : points) {
    x += at;
    y += value;
    xx += at * at;
    xy += at * value;
  }
  const double slope = (count * xy - x * y) / (count * xx - x * x);
  return {(y - slope * x) / count, slope};
}

class PairMeter {
 public:
  PairMeter(ExperimentRunner& runner, std::uint32_t num_repetitions)
      : runner_(runner), num_repetitions_(num_repetitions) {}

  PairMeasurement measure() {
    for (std::uint32_t i = 0; i < kNumWarmUps; ++i)
      runner_.run_us({Experiment::What::kRoundTrip, kNumMessages, 0, kSizes.back()});
    const double round_trip_us = median_us({}, std::max(num_repetitions_, kFewestRoundTrips));
    // A round trip is above every gap and overhead. A late receive must come behind the answer.
    const double delay_us = round_trip_us;
    Parameters& found = result_.parameters;
    found.send_overhead_us = at_least_0("o_s", pace_us(delay_us, 0) - delay_us);
    found.receive_overhead_us =
        at_least_0("o_r", median_us({Experiment::What::kLateReceive, 1, 2 * delay_us, 0}));
    found.latency_us =
        at_least_0("L", round_trip_us / 2 - found.send_overhead_us - found.receive_overhead_us);
    measure_gap();
    return std::move(result_);
  }

 private:
  double median_us(const Experiment& experiment) { return median_us(experiment, num_repetitions_); }
  double median_us(const Experiment& experiment, std::uint32_t num_repetitions) {
    std::vector<double> times_us;
    for (std::uint32_t i = 0; i < num_repetitions; ++i)
      times_us.push_back(runner_.run_us(experiment));
    const auto middle = times_us.begin() + static_cast<std::ptrdiff_t>(times_us.size() / 2);
    std::nth_element(times_us.begin(), middle, times_us.end());
    return *middle;
  }

  // The time from one message to the next.
  double pace_us(double delay_us, std::uint32_t num_bytes) {
    const double one_us = median_us({Experiment::What::kRoundTrip, 1, 0, num_bytes});
    const double all_us =
        median_us({Experiment::What::kRoundTrip, kNumMessages, delay_us, num_bytes});
    return (all_us - one_us) / (kNumMessages - 1);
  }

  void measure_gap() {
    Parameters& found = result_.parameters;
    const double overhead_us = std::max(found.send_overhead_us, found.receive_overhead_us);
    std::vector<std::pair<double, double>> points;
    for (const std::uint32_t num_bytes : kSizes) {
      const double us = pace_us(0, num_bytes);
      if (us > kClearlyAbove * overhead_us) points.emplace_back(num_bytes, us);
    }
    if (points.size() < 2) {
      found.gap_us = overhead_us;
      result_.notes.emplace_back(
          "g is the larger overhead: no size of message let the network set the pace; G is not "
          "known");
      return;
    }
    const Line line = fit(points);
    found.gap_us = at_least_0("g", line.intercept);
    found.gap_per_byte_us = at_least_0("G", line.slope);
  }

  double at_least_0(const char* name, double us) {
    if (us >= 0) return us;
    result_.notes.push_back(format_text("%s came out as %.4g us and was set to 0", name, us));
    return 0;
  }

  ExperimentRunner& runner_;
  const std::uint32_t num_repetitions_;
  PairMeasurement result_;
};

Step send(std::uint32_t peer, std::uint32_t num_bytes) {
  return {Step::Do::kSend, {peer}, num_bytes, 0};
}
Step receive(std::uint32_t peer) { return {Step::Do::kReceive, {peer}, 0, 0}; }
Step delay(double us) { return {Step::Do::kDelay, {}, 0, us}; }

}  // namespace

Program program_of(const Experiment& experiment, Side side, std::uint32_t peer) {
  Program program;
  if (side == Side::kServer) {
    for (std::uint32_t i = 0; i < experiment.num_messages; ++i) program.push_back(receive(peer));
    program.push_back(send(peer, experiment.num_bytes));
    return program;
  }
  const bool is_late = experiment.what == Experiment::What::kLateReceive;
  if (!is_late) program.push_back(Step{});
  for (std::uint32_t i = 0; i < experiment.num_messages; ++i) {
    if (i > 0 && experiment.delay_us > 0) program.push_back(delay(experiment.delay_us));
    program.push_back(send(peer, experiment.num_bytes));
  }
  if (is_late) {
    program.push_back(delay(experiment.delay_us));
    program.push_back(Step{});
  }
  program.push_back(receive(peer));
  program.push_back(Step{});
  return program;
}

PairMeasurement measure_pair(ExperimentRunner& runner, std::uint32_t num_repetitions) {
  return PairMeter(runner, std::max(num_repetitions, 1U)).measure();
}

namespace {

// How many switches up the nearest common one is, 0 for the same one. kNone: no common switch.
constexpr std::uint32_t kNone = kMostPairClasses - 1;

// Empty if an address has no switches, or no pattern that says so.
std::optional<std::vector<std::vector<std::string>>> switches_of(
    const std::vector<NodeAddress>& addresses) {
  std::vector<std::vector<std::string>> switches;
  for (const NodeAddress& node : addresses) {
    std::vector<std::string> parts = lower_words(node.address, '.');
    const std::vector<std::string> kinds = lower_words(node.pattern, '.');
    if (parts.size() < 2 || parts.size() != kinds.size() || kinds.back() != "node")
      return std::nullopt;
    parts.pop_back();
    switches.push_back(std::move(parts));
  }
  if (switches.empty()) return std::nullopt;
  return switches;
}

std::uint32_t switches_up(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto [end_a, end_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (end_a == a.begin()) return kNone;
  const auto up = std::max(a.end() - end_a, b.end() - end_b);
  return std::min(static_cast<std::uint32_t>(up), kNone - 1);
}

std::string switch_name(std::uint32_t up) {
  if (up == 0) return "same switch";
  if (up == kNone) return "no common switch";
  return std::to_string(up) + (up == 1 ? " switch up" : " switches up");
}

Grouping group_by_switch(const std::vector<NodePair>& pairs,
                         const std::vector<std::vector<std::string>>& switches) {
  std::vector<std::uint32_t> distances;
  for (const auto& [a, b] : pairs) distances.push_back(switches_up(switches[a], switches[b]));
  std::map<std::uint32_t, std::uint32_t> class_of;
  for (const std::uint32_t up : distances) class_of.emplace(up, 0);
  Grouping grouping;
  for (auto& [up, index] : class_of) {
    index = static_cast<std::uint32_t>(grouping.names.size());
    grouping.names.push_back(switch_name(up));
  }
  for (const std::uint32_t up : distances) grouping.classes.push_back(class_of[up]);
  return grouping;
}

Grouping group_by_time(const std::vector<double>& round_trips_us) {
  std::vector<std::size_t> order(round_trips_us.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return round_trips_us[a] < round_trips_us[b]; });
  Grouping grouping{{}, std::vector<std::uint32_t>(order.size())};
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    const bool is_last = grouping.names.size() == kMostPairClasses - 1;
    while (end < order.size() && (is_last || round_trips_us[order[end]] <
                                                 kClearlyFarther * round_trips_us[order[end - 1]]))
      ++end;
    for (std::size_t i = begin; i < end; ++i)
      grouping.classes[order[i]] = static_cast<std::uint32_t>(grouping.names.size());
    grouping.names.push_back(
        format_text("round trips of some %.3g us", round_trips_us[order[(begin + end) / 2]]));
    begin = end;
  }
  return grouping;
}

}  // namespace

std::vector<NodePair> sample_pairs(std::uint32_t num_nodes, std::uint32_t most) {
  std::vector<NodePair> pairs;
  const bool takes_all = std::uint64_t{num_nodes} * (num_nodes - 1) / 2 <= most;
  for (std::uint32_t distance = 1; takes_all && distance < num_nodes; ++distance) {
    for (std::uint32_t from = 0; from + distance < num_nodes; ++from)
      pairs.emplace_back(from, from + distance);
  }
  // As many of each distance, spread over the nodes.
  std::uint32_t num_distances = 0;
  for (std::uint32_t distance = 1; distance < num_nodes; distance *= 2) ++num_distances;
  const std::uint32_t of_each = std::max(most / std::max(num_distances, 1U), 1U);
  for (std::uint32_t distance = 1; !takes_all && distance < num_nodes; distance *= 2) {
    const std::uint32_t num_starts = num_nodes - distance;
    for (std::uint32_t i = 0; i < std::min(of_each, num_starts); ++i) {
      const auto from =
          static_cast<std::uint32_t>(std::uint64_t{i} * num_starts / std::min(of_each, num_starts));
      pairs.emplace_back(from, from + distance);
    }
  }
  return pairs;
}

Grouping group_pairs(const std::vector<NodePair>& pairs, const std::vector<double>& round_trips_us,
                     const std::vector<NodeAddress>& addresses) {
  if (const auto switches = switches_of(addresses)) return group_by_switch(pairs, *switches);
  return group_by_time(round_trips_us);
}

PairClass summarize(const std::string& name, std::uint32_t num_pairs,
                    const std::vector<Parameters>& measurements) {
  const auto quartiles = [&](double Parameters::* member) {
    std::vector<double> values;
    for (const Parameters& one : measurements) values.push_back(one.*member);
    return quartiles_of(std::move(values));
  };
  return {.name = name,
          .num_pairs = num_pairs,
          .latency_us = quartiles(&Parameters::latency_us),
          .send_overhead_us = quartiles(&Parameters::send_overhead_us),
          .receive_overhead_us = quartiles(&Parameters::receive_overhead_us),
          .gap_us = quartiles(&Parameters::gap_us),
          .gap_per_byte_us = quartiles(&Parameters::gap_per_byte_us)};
}

}  // namespace hierbar::network
