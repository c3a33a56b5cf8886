// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/evaluate.hpp"

#include <algorithm>
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

}  // namespace hierbar::network
