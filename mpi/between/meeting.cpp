// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/meeting.hpp"

#include <string>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mpi/settings/message.hpp"

namespace hierbar::mpi {
Meeting::Meeting(const MeetingPlan& plan) : plan_(plan), method_(plan.kinds.empty() || plan.is_trial ? 0 : 1) {
  for (const network::Kind kind : plan.kinds) {
    schedules_.push_back({kind, network::rounds(kind, plan.rank, plan.size)});
    runner_.prepare(schedules_.back().rounds);
  }
  if (plan.is_trial && !plan.kinds.empty()) trial_.emplace(plan.kinds.size() + 1);
}

int Meeting::meet(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (!trial_) return meet_by(method_, pmpi, comm);
  if (trial_->has_ended()) return close_trial(pmpi, comm);
  const long long enters_ns = monotonic_ns();
  const int status = meet_by(trial_->method(), pmpi, comm);
  trial_->record(enters_ns, monotonic_ns());
  has_failed_ |= status != MPI_SUCCESS;
  return status;
}

int Meeting::meet_by(std::size_t method, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  return method == 0 ? pmpi.Barrier(comm) : runner_.run(schedules_[method - 1].rounds, pmpi, comm);
}

// The three meetings that follow the trial decide it. Each is one reduction in place of a barrier,
// so the trial costs no call of its own: a reduction too ends in no leader before all have come, and
// if it fails in one, the meeting has failed there.
//
// 1. The first reduces the measured times to the least, and each leader picks a method by these. A
//    leader in which this reduction or a meeting of the trial has failed picks method 0, the
//    library's barrier.
// 2. The other two reduce the picks: all leaders get the least number. The second of them repeats the
//    first, so a leader in which one fails learns the result from the other.
//
// The leaders end with different methods only if step 1 fails in one leader and both reductions of
// step 2 fail in another, whose program has seen two barriers fail then.
int Meeting::close_trial(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (num_closing_++ == 0) return exchange_times(pmpi, comm);
  long long least = judgement_;
  const int status = pmpi.Allreduce(&judgement_, &least, 1, pmpi.long_long, pmpi.min, comm);
  if (status == MPI_SUCCESS) judgement_ = least;
  if (num_closing_ == kNumClosing) adopt_judgement();
  return status;
}

int Meeting::exchange_times(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  Trial::Times least{};
  constexpr int kNumTimes = sizeof least / sizeof(long long);
  const int status = pmpi.Allreduce(&trial_->times(), &least, kNumTimes, pmpi.long_long, pmpi.min, comm);
  has_failed_ |= status != MPI_SUCCESS;
  if (status == MPI_SUCCESS) verdict_ = trial_->judge(least);
  judgement_ = has_failed_ ? 0 : static_cast<long long>(verdict_.method);
  return status;
}

void Meeting::adopt_judgement() noexcept {
  method_ = verdict_.method = static_cast<std::size_t>(judgement_);
  trial_.reset();
  if (plan_.verdicts != nullptr) {
    plan_.verdicts->remember(plan_.verdict_key, method_ == 0 ? Verdicts::Verdict{} : schedules_[method_ - 1].kind);
  }
  if (plan_.prints_verdict) print();
}

void Meeting::print() const {
  std::string text = "meeting of " + std::to_string(plan_.size) + " nodes: ";
  text += verdict_.method == 0 ? "library" : network::name_of(schedules_[verdict_.method - 1].kind);
  if (verdict_.medians_us.empty()) return print_line(text + "; the times of the trial could not be exchanged");
  text += format_text("; trial: library %.1f us", verdict_.medians_us[0]);
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    text += ", " + network::name_of(schedules_[i].kind) + format_text(" %.1f us", verdict_.medians_us[i + 1]);
  }
  print_line(text + "; another way must be 5 % better than the library" +
             (has_failed_ ? ", and no meeting of the trial may fail" : ""));
}

}  // namespace hierbar::mpi
