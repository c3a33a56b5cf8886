// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/meeting.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include "mpi/settings/message.hpp"

namespace hierbar::mpi {
namespace {

std::string us_text(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", us);
  return text;
}

// Collective. The least method that a leader proposes. Two calls, of which the second repeats what
// the first has found: a leader in which one of them fails hears it in the other. Returns false if
// both fail, so that `method` may not be what the others have.
bool agree_on_least(long long& method, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  bool has_heard = method == 0;  // there is none below
  for (int i = 0; i < 2; ++i) {
    long long least = method;
    if (pmpi.Allreduce(&method, &least, 1, pmpi.long_long, pmpi.min, comm) != MPI_SUCCESS) continue;
    method = least;
    has_heard = true;
  }
  return has_heard;
}

}  // namespace

Meeting::Meeting(const MeetingPlan& plan) : plan_(plan), method_(plan.kinds.empty() || plan.is_trial ? 0 : 1) {
  for (const network::Kind kind : plan.kinds) {
    schedules_.push_back({kind, network::rounds(kind, plan.rank, plan.size)});
    runner_.prepare(schedules_.back().rounds);
  }
  if (plan.is_trial && !plan.kinds.empty()) trial_.emplace(plan.kinds.size() + 1);
}

int Meeting::meet(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (!trial_) return meet_by(method_, pmpi, comm);
  if (trial_->has_ended()) return end_trial(pmpi, comm);
  const auto start = std::chrono::steady_clock::now();
  const int status = meet_by(trial_->method(), pmpi, comm);
  trial_->record(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  has_failed_ |= status != MPI_SUCCESS;
  return status;
}

int Meeting::meet_by(std::size_t method, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  return method == 0 ? pmpi.Barrier(comm) : runner_.run(schedules_[method - 1].rounds, pmpi, comm);
}

// The meeting that follows the trial. Every leader makes the same four calls, whatever fails in it:
//
// 1. One reduction gives all the least times. Each leader judges them. One that has not got them,
//    or in which a meeting of the trial has failed, judges for the library, which is the least
//    method.
// 2. Two reductions (agree_on_least()) make the judgement of one leader that of all.
// 3. The library's barrier is the meeting itself, because a leader in which a reduction has failed
//    has not waited for the others.
//
// The leaders have the same verdict unless the call 1 fails in one of them and both calls 2 in
// another one. That one cannot know, so its barrier fails, like one whose meeting has failed.
int Meeting::end_trial(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  Trial::Verdict verdict;
  Trial::Times least{};
  const int num_times = static_cast<int>(least.size());
  if (pmpi.Allreduce(trial_->times().data(), least.data(), num_times, pmpi.long_long, pmpi.min, comm) == MPI_SUCCESS) {
    verdict = trial_->judge(least);
  } else {
    has_failed_ = true;
  }
  long long method = has_failed_ ? 0 : static_cast<long long>(verdict.method);
  const bool has_heard = agree_on_least(method, pmpi, comm);
  method_ = verdict.method = static_cast<std::size_t>(method);
  trial_.reset();
  if (plan_.verdicts != nullptr) {
    plan_.verdicts->remember(plan_.verdict_key, method_ == 0 ? Verdicts::Verdict{} : schedules_[method_ - 1].kind);
  }
  if (plan_.prints_verdict) print(verdict);
  const int status = pmpi.Barrier(comm);
  return status == MPI_SUCCESS && !has_heard ? MPI_ERR_OTHER : status;
}

void Meeting::print(const Trial::Verdict& verdict) const {
  std::string text = "meeting of " + std::to_string(plan_.size) + " nodes: ";
  text += verdict.method == 0 ? "library" : network::name_of(schedules_[verdict.method - 1].kind);
  if (verdict.medians_us.empty()) return print_line(text + "; the times of the trial could not be exchanged");
  text += "; trial: library " + us_text(verdict.medians_us[0]);
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    text += ", " + network::name_of(schedules_[i].kind) + " " + us_text(verdict.medians_us[i + 1]);
  }
  print_line(text + "; another way must be 5 % better than the library" +
             (has_failed_ ? ", and no meeting of the trial may fail" : ""));
}

}  // namespace hierbar::mpi
