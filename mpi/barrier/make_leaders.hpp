// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <vector>

#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/offer.hpp"
#include "mpi/barrier/rank_info.hpp"
#include "mpi/barrier/share_segment.hpp"
#include "mpi/between/leader_comm.hpp"

namespace hierbar::mpi {

// Gives the leaders of several nodes a communicator to meet on, one that they have already or a new
// one. A part of the set-up; one object in each rank.
//
// 1. offer()  Each leader says which leaders' communicators it has. Rank 0, which leads its node,
//             chooses one of its own, or a new one.
// 2. make()   All ranks see the same offers. If a leader lacks what rank 0 has chosen, a new one is
//             made, collectively.
class LeadersMaker {
 public:
  LeadersMaker(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
               const NodePart& part);
  // What was chosen and not taken is given back.
  ~LeadersMaker();
  LeadersMaker(const LeadersMaker&) = delete;
  LeadersMaker& operator=(const LeadersMaker&) = delete;

  // A leader's part. Requires several nodes.
  void offer(Offer& own);
  // `offers` are those of all ranks, the same in all. Returns what Agreement::agree() does. If that
  // is not kEngine, one of the leaders may lack the new communicator. Then nobody frees it, because
  // to free it is collective.
  Route make(const std::vector<Offer>& offers);
  // What a leader uses; null in the other ranks.
  std::shared_ptr<LeaderShare> take() { return std::move(share_); }

 private:
  // The one that this leader knows by this id; null: none.
  std::shared_ptr<LeaderComm> own_of(std::uint64_t id) const;
  Route make_new(const Offer& first);

  Agreement& agreement_;
  const std::vector<RankInfo>& records_;
  const NodeMap& map_;
  const NodePart& part_;
  const Sharing sharing_;
  LeaderComms::Known known_;
  LeaderChoice taken_{};  // rank 0's, while its collectives are not used
  std::shared_ptr<LeaderShare> share_;
};

}  // namespace hierbar::mpi
