// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/trial.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "network/choose.hpp"
#include "network/network_profile.hpp"

namespace hierbar::mpi {
namespace {

// Schedules of one family have the same course, so a wrong assumption on the network is wrong for
// all of them.
int family_of(network::Kind kind) {
  enum : int { kOneMessageARound, kManyMessagesARound, kTrees, kOneLeader, kRing };
  switch (kind.algorithm) {
    case network::Algorithm::kRecursiveDoubling:
      return kOneMessageARound;
    case network::Algorithm::kDissemination:
      return kind.k == 1 ? kOneMessageARound : kManyMessagesARound;
    case network::Algorithm::kTree:
    case network::Algorithm::kCombiningTree:
      return kTrees;
    case network::Algorithm::kLinear:
      return kOneLeader;
    case network::Algorithm::kDoubleRing:
      return kRing;
  }
  return kRing;
}

// The best of each family, as long as there are places.
void add_best(const std::vector<network::Ranked>& ranked, std::vector<network::Kind>& kinds) {
  for (const network::Ranked& schedule : ranked) {
    if (kinds.size() == kMostShortlisted) return;
    const bool is_new = std::none_of(kinds.begin(), kinds.end(), [&](network::Kind kind) {
      return family_of(kind) == family_of(schedule.kind);
    });
    if (is_new) kinds.push_back(schedule.kind);
  }
}

Shortlist make_shortlist(const MeetingSetting& setting, std::uint32_t num_nodes,
                         const std::string& library) {
  Shortlist list;
  if (setting.mode == MeetingSetting::Mode::kFixed) list.kinds.push_back(setting.kind);
  if (setting.mode != MeetingSetting::Mode::kAuto) return list;
  const network::NetworkProfile profile =
      network::read_network_profile(own_environment(), list.problems);
  const network::MeasuredNetwork* measured =
      profile.find(library, network::transport_of(own_environment()), num_nodes);
  list.source = measured != nullptr
                    ? profile.path
                    : "assumed costs, because nothing was measured with this library and transport";
  // They only decide what is tried; the trial decides what is used.
  const network::Parameters costs =
      measured != nullptr ? measured->slowest() : network::kAssumedParameters;
  const std::uint32_t num_chosen = std::min(num_nodes, network::kMostChosenNodes);
  add_best(network::choose(network::candidates(num_chosen), num_chosen, {costs, {}}), list.kinds);
  return list;
}

}  // namespace

const Shortlist& shortlist_for(const MeetingSetting& setting, std::uint32_t num_nodes,
                               const std::string& library) {
  static std::mutex mutex;
  // Never destroyed, like the shim: MPI may be used until the very end of the process.
  static auto* const known = new std::map<std::uint32_t, Shortlist>;
  const std::lock_guard lock(mutex);
  const auto found = known->find(num_nodes);
  return found != known->end()
             ? found->second
             : known->emplace(num_nodes, make_shortlist(setting, num_nodes, library)).first->second;
}

namespace {

// By how many standard deviations one method must be below another. Six costs against six
// reach 2.88 if all of one are below all of the other. After the first round more is asked for,
// since the test is made up to 32 times more.
constexpr double kClearAtFirst = 2.75;
constexpr double kClearLater = 3.25;

// How well the median of a method is known, in parts of it, where it is known well enough. Two
// methods that are so well known and not told apart cost the same within kNeededGain.
constexpr double kPreciseError = 0.01;

double quantile(const std::vector<long long>& sorted, double share) {
  return static_cast<double>(
      sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)]);
}

// By how many standard deviations `a` lies below `b`, both sorted, by the statistic of Mann and
// Whitney.
double deviations_below(const std::vector<long long>& a, const std::vector<long long>& b) {
  double sum = 0;
  for (const long long cost : a) {
    const auto [first, last] = std::equal_range(b.begin(), b.end(), cost);
    sum += static_cast<double>(b.end() - last) + static_cast<double>(last - first) / 2;
  }
  const auto num_a = static_cast<double>(a.size()), num_b = static_cast<double>(b.size());
  return (sum - num_a * num_b / 2) / std::sqrt(num_a * num_b * (num_a + num_b + 1) / 12);
}

}  // namespace

Trial::Trial(std::size_t num_methods) : costs_(num_methods), turns_(num_methods) {
  std::iota(turns_.begin(), turns_.end(), std::size_t{0});
}

Trial Trial::check_of(std::size_t method, std::size_t num_methods) {
  Trial trial(num_methods);
  trial.turns_.assign(1, method);
  return trial;
}

void Trial::record(long long enters_ns, long long leaves_ns) noexcept {
  times_.period(meeting_) = leaves_ns - last_left_ns_;
  times_.minus_period(meeting_) = last_left_ns_ - leaves_ns;
  times_.minus_outside(meeting_) = last_left_ns_ - enters_ns;
  last_left_ns_ = leaves_ns;
  ++meeting_;
  ++num_in_all_;
}

Trial::Proposal Trial::judge(Times least) {
  for (std::size_t meeting = 0; meeting < num_meetings(); ++meeting) {
    if (meeting % kTurn == 0) continue;  // before it another method met, or none
    const long long mean_period = (least.period(meeting) - least.minus_period(meeting)) / 2;
    const std::size_t method = turns_[meeting / kTurn % turns_.size()];
    costs_[method].push_back(std::max(0LL, mean_period + least.minus_outside(meeting)));
  }
  for (std::vector<long long>& costs : costs_) std::sort(costs.begin(), costs.end());

  const std::size_t best = best_of(turns_);
  std::vector<std::size_t> left;
  for (const std::size_t method : turns_) {
    // The library goes only where it is to be replaced, since it is what a doubt ends with.
    const bool loses = method == 0 ? replaces_library(best) : is_clearly_better(best, method);
    if (method == best || !loses) left.push_back(method);
  }
  const bool is_decided =
      left.size() == 1 ||
      std::all_of(left.begin(), left.end(), [&](std::size_t method) { return is_precise(method); });
  if (!is_decided && num_further_ < kMostFurtherRounds) {
    Proposal further = kFurtherRound;
    for (const std::size_t method : left) further |= Proposal{1} << method;
    return further;
  }
  return best != 0 && (left.front() != 0 || replaces_library(best)) ? static_cast<Proposal>(best)
                                                                    : 0;
}

void Trial::begin_round(Proposal agreed) {
  turns_.clear();
  for (std::size_t method = 0; method < costs_.size(); ++method) {
    if ((agreed >> method & 1) != 0) turns_.push_back(method);
  }
  ++num_further_;
  meeting_ = 0;
}

std::vector<double> Trial::medians_us() const {
  std::vector<double> medians;
  for (const std::vector<long long>& costs : costs_)
    medians.push_back(costs.empty() ? 0 : quantile(costs, 0.5) / 1000);
  return medians;
}

bool Trial::is_clearly_better(std::size_t method, std::size_t other) const {
  return deviations_below(costs_[method], costs_[other]) >=
         (num_further_ == 0 ? kClearAtFirst : kClearLater);
}

bool Trial::replaces_library(std::size_t method) const {
  return method != 0 && is_clearly_better(method, 0) &&
         quantile(costs_[method], 0.5) <= quantile(costs_[0], 0.5) * (1 - kNeededGain);
}

// The error of a median is about 1.25 standard deviations by the root of the number, and a standard
// deviation about 0.74 times what lies between the quartiles.
bool Trial::is_precise(std::size_t method) const {
  const std::vector<long long>& costs = costs_[method];
  const double error = 1.25 * 0.74 * (quantile(costs, 0.75) - quantile(costs, 0.25)) /
                       std::sqrt(static_cast<double>(costs.size()));
  return error <= kPreciseError * quantile(costs, 0.5);
}

std::size_t Trial::best_of(const std::vector<std::size_t>& methods) const {
  return *std::min_element(methods.begin(), methods.end(), [&](std::size_t a, std::size_t b) {
    return quantile(costs_[a], 0.5) < quantile(costs_[b], 0.5);
  });
}

}  // namespace hierbar::mpi
