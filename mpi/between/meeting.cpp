// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/meeting.hpp"

#include <string>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
Meeting::Meeting(const MeetingPlan& plan)
    : plan_(plan), runner_(plan.tag), method_(plan.kinds.empty() || plan.is_trial ? 0 : 1) {
  for (const network::Kind kind : plan.kinds) {
    schedules_.push_back({kind, network::rounds(kind, plan.rank, plan.size)});
    runner_.prepare(schedules_.back().rounds);
  }
  if (plan.is_trial && !plan.kinds.empty()) trial_.emplace(plan.kinds.size() + 1);
}

int Meeting::meet(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (!trial_) return meet_settled(pmpi, comm);
  if (trial_->has_round_ended()) return close_round(pmpi, comm);
  const long long enters_ns = monotonic_ns();
  const int status = meet_by(trial_->method(), pmpi, comm);
  trial_->record(enters_ns, monotonic_ns());
  has_failed_ |= status != MPI_SUCCESS;
  return status;
}

int Meeting::meet_by(std::size_t method, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  return method == 0 ? pmpi.Barrier(comm) : runner_.run(schedules_[method - 1].rounds, pmpi, comm);
}

// The number of meetings since the trial is the same in all leaders, so all begin alike.
int Meeting::meet_settled(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  const int status = meet_by(method_, pmpi, comm);
  if (!tries_again_ || ++num_settled_ % kCheckEvery != 0) return status;
  is_check_ = num_settled_ < kTryAgain;
  const std::size_t num_methods = schedules_.size() + 1;
  trial_ = is_check_ ? Trial::check_of(method_, num_methods) : Trial(num_methods);
  return status;
}

// The three meetings that follow a round decide what comes next. Each is one reduction in place of
// a barrier, so the trial costs no call of its own: a reduction too ends in no leader before all
// have come, and if it fails in one, the meeting has failed there.
//
// 1. The first reduces the measured times to the least, and each leader makes a proposal by these.
//    A leader in which this reduction or a meeting of the trial has failed proposes the library's
//    barrier for good.
// 2. The other two reduce the proposals: all leaders get the least one. The second of them repeats
//    the first, so a leader in which one fails learns the result from the other.
//
// The leaders end with different methods only if step 1 fails in one leader and both reductions of
// step 2 fail in another, whose program has seen two barriers fail then.
int Meeting::close_round(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (num_closing_++ == 0) return exchange_times(pmpi, comm);
  long long least = proposal_;
  const int status = pmpi.Allreduce(&proposal_, &least, 1, pmpi.long_long, pmpi.min, comm);
  if (status == MPI_SUCCESS) proposal_ = least;
  if (num_closing_ == kNumClosing) adopt_proposal();
  return status;
}

int Meeting::exchange_times(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  Trial::Times least{};
  const int status =
      pmpi.Allreduce(&trial_->times(), &least, static_cast<int>(trial_->num_values()),
                     pmpi.long_long, pmpi.min, comm);
  has_failed_ |= status != MPI_SUCCESS;
  proposal_ = has_failed_ ? kLibraryForGood : judge(least);
  return status;
}

Trial::Proposal Meeting::judge(const Trial::Times& least) {
  const Trial::Proposal proposal = trial_->judge(least);
  return is_check_ && has_drifted(trial_->medians_us()[method_]) ? kTrialAgain : proposal;
}

bool Meeting::has_drifted(double median_us) const noexcept {
  return median_us > settled_us_ * kDrift || median_us * kDrift < settled_us_;
}

void Meeting::adopt_proposal() {
  num_closing_ = 0;
  if (proposal_ == kTrialAgain) {
    is_check_ = false;
    trial_.emplace(schedules_.size() + 1);
  } else if (proposal_ == kLibraryForGood) {
    tries_again_ = false;
    adopt_verdict(0);
  } else if (!Trial::is_verdict(proposal_)) {
    trial_->begin_round(proposal_);
  } else if (is_check_) {
    trial_.reset();
  } else {
    tries_again_ = true;
    num_settled_ = 0;
    adopt_verdict(static_cast<std::size_t>(proposal_));
  }
}

void Meeting::adopt_verdict(std::size_t method) {
  const bool is_new = !has_verdict_ || method != method_ || proposal_ == kLibraryForGood;
  has_verdict_ = true;
  method_ = method;
  settled_us_ = trial_->medians_us()[method];
  if (plan_.verdicts != nullptr) {
    plan_.verdicts->remember(plan_.verdict_key,
                             method_ == 0 ? Verdicts::Verdict{} : schedules_[method_ - 1].kind);
  }
  if (plan_.prints_verdict && is_new) print(*trial_);
  trial_.reset();
}

void Meeting::print(const Trial& trial) const {
  std::string text = "meeting of " + std::to_string(plan_.size) + " nodes: ";
  text += method_ == 0 ? "library" : network::name_of(schedules_[method_ - 1].kind);
  if (proposal_ == kLibraryForGood)
    return print_line(
        text + "; a meeting or a reduction of the trial failed, so there is no further trial");
  const std::vector<double> medians_us = trial.medians_us();
  text += format_text("; trial: library %.1f us", medians_us[0]);
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    text +=
        ", " + network::name_of(schedules_[i].kind) + format_text(" %.1f us", medians_us[i + 1]);
  }
  print_line(
      text +
      format_text(" in %zu meetings; a schedule must be significantly and at least 3 %% better",
                  trial.num_meetings_in_all()));
}

}  // namespace hierbar::mpi
