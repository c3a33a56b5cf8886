// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/candidates.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "network/choose.hpp"
#include "placement/decision/findings.hpp"

namespace hierbar {
namespace {

// With the variables that launch_lines() gives: ranks of one thread get no places.
TeamShape team_of(const Machine& machine, const CpuSet& share, std::uint32_t num_threads) {
  const std::string threads = std::to_string(num_threads);
  return predict_team(machine, share, [&](const char* name) -> const char* {
    const std::string variable = name;
    if (variable == "OMP_NUM_THREADS") return threads.c_str();
    if (num_threads == 1) return nullptr;
    if (variable == "OMP_PLACES") return "cores";
    return variable == "OMP_PROC_BIND" ? "close" : nullptr;
  });
}

std::vector<Finding> check(const Machine& machine, const std::vector<CpuSet>& shares,
                           std::uint32_t num_threads) {
  NodeView node{.machine = machine, .ranks = {}};
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    node.ranks.push_back({static_cast<std::uint32_t>(rank), shares[rank],
                          team_of(machine, shares[rank], num_threads)});
  }
  return find_problems(node);
}

// Launchers fill nodes: only the last one may have fewer ranks.
bool is_filled(const network::Split& split) {
  return std::all_of(split.begin(), split.end() - 1,
                     [&](std::uint32_t ranks) { return ranks == split.front(); }) &&
         split.back() <= split.front();
}

class Search {
 public:
  Search(const PredictionRequest& prediction, const CandidateRequest& request)
      : prediction_(prediction), request_(request) {}

  Result<Candidates> run() && {
    const Machine& machine = prediction_.machine;
    for (const network::Split& split :
         network::all_splits(prediction_.num_ranks, prediction_.num_ranks, num_cores(machine))) {
      if (!is_filled(split) || !is_allowed(split.size())) continue;
      for (const std::uint32_t threads : threads_for(split)) {
        if (threads * split.front() > num_cores(machine)) {
          ++found_.left_out["more threads than cores"];
          continue;
        }
        add_patterns(split, threads);
      }
    }
    if (!problem_.empty()) return Error{problem_};
    rank();
    return std::move(found_);
  }

 private:
  bool is_allowed(std::size_t num_nodes) const {
    const auto& allowed = request_.num_nodes;
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), num_nodes) != allowed.end();
  }

  std::vector<std::uint32_t> threads_for(const network::Split& split) const {
    if (!request_.num_threads.empty()) return request_.num_threads;
    return {num_cores(prediction_.machine) / split.front()};
  }

  void add_patterns(const network::Split& split, std::uint32_t num_threads) {
    std::vector<std::vector<CpuSet>> known;
    for (const PatternText& pattern : all_patterns()) {
      const std::vector<std::uint32_t> threads(split.front(), num_threads);
      Result<std::vector<CpuSet>> shares =
          place_ranks(pattern.pattern, prediction_.machine, prediction_.machine.allowed, threads);
      if (!shares || std::find(known.begin(), known.end(), *shares) != known.end()) continue;
      known.push_back(*shares);
      const std::vector<Finding> findings = check(prediction_.machine, *shares, num_threads);
      if (findings.empty()) {
        add(split, num_threads, pattern.pattern, *std::move(shares));
      } else {
        ++found_.left_out[finding_name(findings.front().kind)];
      }
    }
  }

  void add(const network::Split& split, std::uint32_t num_threads, Pattern pattern,
           std::vector<CpuSet> shares) {
    const auto spots = spots_of(prediction_.machine, pattern, split, num_threads);
    if (!spots) return;
    const network::Costs costs{prediction_.costs.contention, prediction_.costs.parameters};
    auto messages = predict(prediction_.traffic, *spots, costs, prediction_.model);
    if (!messages) {
      problem_ = messages.error();
      return;
    }
    Candidate candidate{.split = split,
                        .num_threads = num_threads,
                        .pattern = pattern,
                        .shares = std::move(shares),
                        .messages = *std::move(messages),
                        .barrier_us = barrier_us(candidate_nodes(split)),
                        .score_us = {}};
    const Quartiles& time = candidate.messages.time_us;
    candidate.score_us = {time.lower + candidate.barrier_us, time.median + candidate.barrier_us,
                          time.upper + candidate.barrier_us};
    found_.usable.push_back(std::move(candidate));
  }

  static std::uint32_t candidate_nodes(const network::Split& split) {
    return static_cast<std::uint32_t>(split.size());
  }

  double barrier_us(std::uint32_t num_nodes) {
    if (num_nodes < 2) return 0;
    const auto known = barriers_.find(num_nodes);
    if (known != barriers_.end()) return known->second;
    const network::Network network{prediction_.costs.parameters, {}};
    return barriers_[num_nodes] =
               network::choose(network::candidates(num_nodes), num_nodes, network)
                   .front()
                   .evaluated_us;
  }

  // Among equals fewer nodes come first, then more threads, since cores without a thread cost the
  // same, then the pattern that comes first in all_patterns().
  void rank() {
    std::vector<Quartiles> times;
    for (const Candidate& one : found_.usable) times.push_back(one.score_us);
    const std::vector<std::uint32_t> order = network::rank_by_time(times);
    for (std::size_t i = 0; i < order.size(); ++i) found_.usable[i].order = order[i];
    std::stable_sort(found_.usable.begin(), found_.usable.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return std::tuple(a.order, a.num_nodes(), b.num_threads) <
                              std::tuple(b.order, b.num_nodes(), a.num_threads);
                     });
  }

  const PredictionRequest& prediction_;
  const CandidateRequest& request_;
  Candidates found_;
  std::map<std::uint32_t, double> barriers_;
  std::string problem_;
};

}  // namespace

std::uint32_t Candidate::num_ranks() const {
  return std::accumulate(split.begin(), split.end(), 0U);
}

Result<Candidates> find_candidates(const PredictionRequest& prediction,
                                   const CandidateRequest& request) {
  return Search(prediction, request).run();
}

std::string reason_for(const Candidate& candidate) {
  const network::Prediction& messages = candidate.messages;
  if (messages.channels.empty()) return "no messages between ranks";
  const std::uint32_t cf = messages.channels.at(messages.binding).largest_cf;
  const std::string pairs = std::to_string(cf) + (cf == 1 ? " pair uses" : " pairs share");
  const char* what =
      messages.binding == network::ChannelKind::kNetwork ? "an adapter" : "a channel of it";
  return std::string(channel_name(messages.binding)) + " binds: up to " + pairs + " " + what;
}

}  // namespace hierbar
