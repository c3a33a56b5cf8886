// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/choose.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace hierbar::network {
namespace {

struct Message {
  std::uint32_t from;
  double arrival_us;
};

// One rank on its way through its rounds.
class Walker {
 public:
  explicit Walker(std::vector<Round> rounds) : rounds_(std::move(rounds)) {}

  bool is_done() const { return round_ == rounds_.size(); }
  double exit_us() const { return free_us_; }

  // Starts the sends of the round, and waits for its messages from then on. `deliver` is called
  // with each message's receiver and the moment at which the sender has handed it over.
  template <class Deliver>
  void begin(const Parameters& costs, Deliver deliver) {
    const Round& round = rounds_[round_];
    for (const std::uint32_t to : round.send_to) {
      const double start_us = std::max(free_us_, next_send_us_);
      next_send_us_ = start_us + costs.gap_us;
      free_us_ = start_us + costs.send_overhead_us;
      deliver(to, free_us_);
    }
    awaited_.assign(round.receive_from.begin(), round.receive_from.end());
    std::sort(awaited_.begin(), awaited_.end());
    is_there_.assign(awaited_.size(), false);
    const std::vector<Message> early = std::exchange(early_, {});
    for (const Message& message : early) accept(message);
  }

  // Returns true if the message is the last one that the round awaited.
  bool accept(const Message& message) {
    const auto found = std::lower_bound(awaited_.begin(), awaited_.end(), message.from);
    const auto index = static_cast<std::size_t>(found - awaited_.begin());
    if (found == awaited_.end() || *found != message.from || is_there_[index]) {
      early_.push_back(message);  // of a later round
      return false;
    }
    is_there_[index] = true;
    arrivals_us_.push_back(message.arrival_us);
    return has_all();
  }

  bool has_all() const { return arrivals_us_.size() == awaited_.size(); }

  // Takes the messages of the round. Requires has_all().
  void finish(const Parameters& costs) {
    std::sort(arrivals_us_.begin(), arrivals_us_.end());
    for (const double arrival_us : arrivals_us_) {
      const double start_us = std::max({free_us_, arrival_us, next_receive_us_});
      next_receive_us_ = start_us + costs.gap_us;
      free_us_ = start_us + costs.receive_overhead_us;
    }
    arrivals_us_.clear();
    awaited_.clear();
    ++round_;
  }

 private:
  std::vector<Round> rounds_;
  std::size_t round_ = 0;
  double free_us_ = 0;  // when the cpu is free again
  double next_send_us_ = 0;
  double next_receive_us_ = 0;
  std::vector<std::uint32_t> awaited_;  // sorted
  std::vector<bool> is_there_;          // for each awaited rank
  std::vector<double> arrivals_us_;     // of those that are there
  std::vector<Message> early_;          // in the order in which they were sent
};

}  // namespace

std::vector<double> exits_us(Kind kind, std::uint32_t size, const Network& network) {
  std::vector<Walker> walkers;
  walkers.reserve(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) walkers.emplace_back(rounds(kind, rank, size));

  // A rank is ready when it can begin its next round. Times do not depend on the order in which
  // ready ranks are taken: a round's end depends on its messages only.
  std::vector<std::uint32_t> ready(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) ready[rank] = rank;
  const auto end_round = [&](std::uint32_t rank) {
    walkers[rank].finish(network.parameters);
    ready.push_back(rank);
  };
  while (!ready.empty()) {
    const std::uint32_t rank = ready.back();
    ready.pop_back();
    if (walkers[rank].is_done()) continue;
    walkers[rank].begin(network.parameters, [&](std::uint32_t to, double sent_us) {
      if (walkers[to].accept({rank, sent_us + network.latency_between_us(rank, to)})) end_round(to);
    });
    if (walkers[rank].has_all()) end_round(rank);
  }

  std::vector<double> exits;
  for (const Walker& walker : walkers) exits.push_back(walker.exit_us());
  return exits;
}

double evaluate_us(Kind kind, std::uint32_t size, const Network& network) {
  const std::vector<double> exits = exits_us(kind, size, network);
  return exits.empty() ? 0 : *std::max_element(exits.begin(), exits.end());
}

namespace {

// How many rounds k-way dissemination needs.
std::uint32_t num_rounds(std::uint32_t k, std::uint32_t size) {
  std::uint32_t count = 0;
  for (std::uint64_t reached = 1; reached < size; reached *= k + 1) ++count;
  return count;
}

}  // namespace

std::optional<double> formula_us(Kind kind, const Parameters& parameters, std::uint32_t size) {
  if (size < 2) return 0;
  const double one_way_us =
      parameters.send_overhead_us + parameters.latency_us + parameters.receive_overhead_us;
  const double f_r = std::max(parameters.receive_overhead_us, parameters.gap_us);
  const double f_s = std::max(parameters.send_overhead_us, parameters.gap_us);
  const double num_ranks = size;
  switch (kind.algorithm) {
    case Algorithm::kLinear:
      return 2 * one_way_us + (num_ranks - 2) * f_r + (num_ranks - 2) * f_s;
    case Algorithm::kCombiningTree: {
      const double n = kind.k;
      const double gather = (one_way_us + f_r * (n - 2)) * std::log2(num_ranks) / std::log2(n);
      return gather + one_way_us +
             (std::log2(num_ranks) - 1) * std::max(parameters.gap_us, one_way_us);
    }
    case Algorithm::kDissemination: {
      const double sends = std::min(kind.k, size - 1);
      const double rounds = kind.k == 1 ? std::log2(num_ranks) : num_rounds(kind.k, size);
      return rounds * std::max({f_r, f_s, one_way_us + (sends - 1) * std::max(f_r, f_s)});
    }
    case Algorithm::kDoubleRing:
    case Algorithm::kRecursiveDoubling:
    case Algorithm::kTree:
      return std::nullopt;
  }
  return std::nullopt;
}

namespace {

constexpr std::uint32_t kMostTreeK = 8;

// Times that differ by rounding only are equal.
bool is_clearly_less(double a, double b) { return a < b * (1 - 1e-9); }

}  // namespace

std::vector<Kind> candidates(std::uint32_t size) {
  std::vector<Kind> kinds{{Algorithm::kDissemination, 1},
                          {Algorithm::kRecursiveDoubling, 1},
                          {Algorithm::kLinear, 1},
                          {Algorithm::kDoubleRing, 1}};
  const std::uint32_t most_k = size < 2 ? 1 : std::min(size - 1, kMostK);
  for (std::uint32_t k = 2; k <= most_k; ++k) {
    const bool saves_a_round = num_rounds(k, size) < num_rounds(k - 1, size);
    if (k <= kMostTreeK || saves_a_round) kinds.push_back({Algorithm::kDissemination, k});
  }
  for (std::uint32_t k = 1; k <= std::min(most_k, kMostTreeK); ++k)
    kinds.push_back({Algorithm::kTree, k});
  for (std::uint32_t k = 2; k <= std::min(most_k + 1, kMostTreeK); ++k)
    kinds.push_back({Algorithm::kCombiningTree, k});
  return kinds;
}

std::vector<Ranked> choose(const std::vector<Kind>& kinds, std::uint32_t size,
                           const Network& network) {
  std::vector<Ranked> ranked;
  for (const Kind kind : kinds) {
    ranked.push_back({kind, formula_us(kind, network.parameters, size),
                      evaluate_us(kind, size, network), num_messages(kind, size)});
  }
  // By time first. Then each run of equal times, seen from its first one, by messages: "equal
  // within rounding" is no order that a sort could use.
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.evaluated_us < b.evaluated_us;
  });
  for (auto first = ranked.begin(); first != ranked.end();) {
    const auto last = std::find_if(first, ranked.end(), [&](const Ranked& other) {
      return is_clearly_less(first->evaluated_us, other.evaluated_us);
    });
    std::stable_sort(first, last, [](const Ranked& a, const Ranked& b) {
      return a.num_messages < b.num_messages;
    });
    first = last;
  }
  return ranked;
}

}  // namespace hierbar::network
