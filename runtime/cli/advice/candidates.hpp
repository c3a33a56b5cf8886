// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/option/channel_costs.hpp"

namespace hierbar {

// One way to start the job: so many nodes, ranks on each, threads of a rank, and where they go.
struct Candidate {
  network::Split split;  // all nodes have as many ranks, or the last one fewer
  std::uint32_t num_threads = 1;
  Pattern pattern = Pattern::kShare;
  std::vector<CpuSet> shares;  // of the ranks of the first node
  network::Prediction messages;
  double barrier_us = 0;    // of the nodes' leaders, by the LogGP model; 0 on one node
  Quartiles score_us;       // messages and a barrier
  std::uint32_t order = 0;  // by the score, from 1; equals are inside each other's error

  std::uint32_t num_ranks() const;
  std::uint32_t per_node() const { return split.front(); }
  std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(split.size()); }
};

struct CandidateRequest {
  std::vector<std::uint32_t> num_nodes;  // allowed; empty: any
  // Of a rank; empty: as many as its node has cores for each rank.
  std::vector<std::uint32_t> num_threads;
};

struct Candidates {
  std::vector<Candidate> usable;  // the best first
  // Why others were left out, by the name of the finding or a reason, and how many.
  std::map<std::string, std::uint32_t> left_out;
};

// All candidates for which `hierbar check` would find nothing, ranked. Of patterns that give the
// same cpus only the first is there. Errors: a channel is used of which nothing was measured.
Result<Candidates> find_candidates(const PredictionRequest& prediction,
                                   const CandidateRequest& request);

// Why it is where it is: "network binds, 12 pairs share an adapter at most".
std::string reason_for(const Candidate& candidate);

}  // namespace hierbar
