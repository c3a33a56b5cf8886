// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/between/leader_comm.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// A meeting of leaders that carries words: of each word all leaders get the least. A word that one
// leader has and for which all others bring kNothing reaches all of them, so it can also put
// together what each of them has. Nobody returns MPI_SUCCESS before all have come.
//
// It takes the way that the leaders' meetings take (LeaderShare): by the library's MPI_Allreduce,
// or by messages with the meetings' tag. Messages of one sender arrive in order, so they are not
// taken for those of a meeting.
//
// Requires that the calls of all leaders, and their meetings, come in one order.
class LeastOfLeaders {
 public:
  static constexpr long long kNothing = 0x7fff'ffff'ffff'ffff;

  // Room for so many words. May throw std::bad_alloc.
  void reserve(std::size_t num_words) {
    if (came_.size() <= num_words) came_.resize(num_words + 1);
    if (words_.size() <= num_words) words_.resize(num_words + 1);
  }

  // What the leader brings, and behind run() what it gets; run() may move it.
  long long* words() noexcept { return words_.data(); }
  // Requires that there is room. `leaders` may be null: then all ranks of `comm` meet, by the
  // library. Returns MPI's status.
  int run(const Pmpi& pmpi, LeaderShare* leaders, MPI_Comm comm, std::size_t num_words) noexcept;

 private:
  int run_by_messages(const Pmpi& pmpi, const MeetingPlan& plan, MPI_Comm comm,
                      std::size_t num_words) noexcept;
  bool exchange(const Pmpi& pmpi, const MeetingPlan& plan, MPI_Comm comm, std::size_t num_words,
                std::uint32_t distance) noexcept;

  std::vector<long long> words_;
  std::vector<long long> came_;
  int broken_ = MPI_SUCCESS;  // what a poll returned that may have lost a message
};

}  // namespace hierbar::mpi
