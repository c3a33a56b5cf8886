// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/assign.hpp"

#include <algorithm>
#include <map>

namespace hierbar {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Shares and ranks as a bipartite graph, matched by augmenting paths (H. W. Kuhn, Naval Research
// Logistics Quarterly 2, 1955).
class Matching {
 public:
  Matching(const std::vector<CpuSet>& shares, const std::vector<std::uint32_t>& threads, const std::vector<CpuSet>& homes)
      : threads_(threads), share_of_(shares.size(), kNone), rank_of_(shares.size(), kNone), wanted_(shares.size()) {
    find_wanted(shares, homes);
    // Ranks whose own share has a cpu of their home come first, so that no more ranks move than
    // must.
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      if (shares[rank].intersects(homes[rank])) take(rank, rank);
    }
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      if (share_of_[rank] != kNone) continue;
      std::vector<bool> seen(shares.size());
      find_home(rank, seen);
    }
    give_the_rest();
  }

  // By rank.
  const std::vector<std::size_t>& share_of() const { return share_of_; }

 private:
  // Finds for each rank the shares that have a cpu of its home. Homes are often narrow and shares
  // are disjoint, so it goes from each cpu of a home to the share that has it.
  void find_wanted(const std::vector<CpuSet>& shares, const std::vector<CpuSet>& homes) {
    std::map<std::uint32_t, std::size_t> share_with;
    for (std::size_t share = 0; share < shares.size(); ++share) {
      for (const std::uint32_t cpu : shares[share]) share_with[cpu] = share;
    }
    for (std::size_t rank = 0; rank < homes.size(); ++rank) {
      std::vector<std::size_t>& wanted = wanted_[rank];
      if (shares[rank].intersects(homes[rank])) wanted.push_back(rank);
      for (const std::uint32_t cpu : homes[rank]) {
        const auto found = share_with.find(cpu);
        if (found == share_with.end() || threads_[found->second] != threads_[rank]) continue;
        if (wanted.empty() || wanted.back() != found->second) wanted.push_back(found->second);
      }
    }
  }

  void take(std::size_t rank, std::size_t share) {
    share_of_[rank] = share;
    rank_of_[share] = rank;
  }

  // Finds a share for the rank: a free one, or that of another rank which then finds another one.
  bool find_home(std::size_t rank, std::vector<bool>& seen) {
    for (const std::size_t share : wanted_[rank]) {
      if (seen[share]) continue;
      seen[share] = true;
      if (rank_of_[share] != kNone && !find_home(rank_of_[share], seen)) continue;
      take(rank, share);
      return true;
    }
    return false;
  }

  // A rank that is left gets its own share if that is left, or else the next one for as many
  // threads.
  void give_the_rest() {
    for (std::size_t rank = 0; rank < share_of_.size(); ++rank) {
      if (share_of_[rank] == kNone && rank_of_[rank] == kNone) take(rank, rank);
    }
    std::map<std::uint32_t, std::vector<std::size_t>> left;  // by number of threads, last first
    for (std::size_t share = rank_of_.size(); share-- > 0;) {
      if (rank_of_[share] == kNone) left[threads_[share]].push_back(share);
    }
    for (std::size_t rank = 0; rank < share_of_.size(); ++rank) {
      if (share_of_[rank] != kNone) continue;
      std::vector<std::size_t>& same = left[threads_[rank]];
      take(rank, same.back());
      same.pop_back();
    }
  }

  const std::vector<std::uint32_t>& threads_;
  std::vector<std::size_t> share_of_;  // by rank
  std::vector<std::size_t> rank_of_;   // by share
  // By rank: the shares that have a cpu of its home.
  std::vector<std::vector<std::size_t>> wanted_;
};

}  // namespace

std::vector<CpuSet> assign_shares(const std::vector<CpuSet>& shares, const std::vector<std::uint32_t>& threads,
                                  const std::vector<CpuSet>& homes) {
  std::vector<CpuSet> result;
  const Matching matching(shares, threads, homes);
  for (const std::size_t share : matching.share_of()) result.push_back(shares[share]);
  return result;
}

}  // namespace hierbar
