// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/between/schedule_runner.hpp"
#include "mpi/between/trial.hpp"
#include "mpi/library/pmpi.hpp"
#include "network/schedule.hpp"

namespace hierbar::mpi {

// What one leader is told about the meetings on its communicator. `kinds` and `is_trial` are the
// same in all leaders.
struct MeetingPlan {
  std::vector<network::Kind> kinds;  // none: the MPI library's barrier, for good
  bool is_trial = false;   // the kinds and the library take turns until the trial has ended
  std::uint32_t rank = 0;  // among the leaders
  std::uint32_t size = 0;
  int tag = 0;  // of the messages
  bool prints_verdict = false;
  // Where the verdict of a trial is kept; null: nowhere.
  Verdicts* verdicts = nullptr;
  std::uint64_t verdict_key = 0;
};

// How the leaders of several nodes meet on their communicator: in the MPI library's barrier, or by
// a schedule of empty messages, as one leader runs it.
//
// Requires that only one thread at a time is in a meeting on the communicator with the same tag,
// and one in a meeting that may use the library's collectives. Guarantees that no leader returns
// MPI_SUCCESS before all have come.
//
// What is best may change with the job's neighbours. So after a trial there is a check every
// kCheckEvery meetings: one round of the method in use, which costs three reductions. If its cost
// has changed by more than kDrift, or kTryAgain meetings have passed, another trial follows.
//
// Communicators with the same leaders share a meeting and its trial. So a duplicate goes on where
// the first communicator was. Where they do not share it (LeaderComm), those made after the trial
// start with its verdict.
class Meeting {
 public:
  // The library's barrier, for good.
  Meeting() = default;
  explicit Meeting(const MeetingPlan& plan);

  const MeetingPlan& plan() const { return plan_; }
  // One meeting. Returns MPI's status.
  int meet(const Pmpi& pmpi, MPI_Comm comm) noexcept;

 private:
  struct Schedule {
    network::Kind kind;
    std::vector<network::Round> rounds;
  };

  static constexpr int kNumClosing = 3;
  static constexpr std::size_t kCheckEvery = 1024;
  static constexpr std::size_t kTryAgain = 16 * kCheckEvery;
  static constexpr double kDrift = 1.5;

  // Proposals beside those of a trial. The least counts, so a failure does before all else.
  static constexpr Trial::Proposal kLibraryForGood = -1;
  static constexpr Trial::Proposal kTrialAgain = 1LL << 32;

  // Method 0 is the library, method i the schedule i - 1.
  int meet_by(std::size_t method, const Pmpi& pmpi, MPI_Comm comm) noexcept;
  int meet_settled(const Pmpi& pmpi, MPI_Comm comm) noexcept;
  int close_round(const Pmpi& pmpi, MPI_Comm comm) noexcept;
  int exchange_times(const Pmpi& pmpi, MPI_Comm comm) noexcept;
  Trial::Proposal judge(const Trial::Times& least);
  bool has_drifted(double median_us) const noexcept;
  void adopt_proposal();
  void adopt_verdict(std::size_t method);
  void print(const Trial& trial) const;

  MeetingPlan plan_;
  std::vector<Schedule> schedules_;
  ScheduleRunner runner_;
  std::size_t method_ = 0;      // the one in use, when there is no trial
  std::optional<Trial> trial_;  // or check
  bool is_check_ = false;
  bool has_failed_ = false;       // a meeting of the trial, or a reduction of times
  int num_closing_ = 0;           // meetings that have followed the round
  Trial::Proposal proposal_ = 0;  // this leader's, then the least that it has heard of
  bool tries_again_ = false;      // there was a trial, and there are to be more
  bool has_verdict_ = false;
  double settled_us_ = 0;        // what the method cost in the trial
  std::size_t num_settled_ = 0;  // meetings since the trial
};

}  // namespace hierbar::mpi
