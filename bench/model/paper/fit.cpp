// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bench/common/random.hpp"

namespace hierbar::bench::model {
namespace {

constexpr std::size_t kNumCandidates = 36;
constexpr Episodes kEpisodes{.warm_up = 2, .measured = 5};
constexpr double kCrossover = 0.8;
// The same for all simulated runs, so that the error depends on the parameters only.
constexpr std::uint64_t kRunSeed = 1;

struct Range {
  const ParameterInfo* info;
  double lowest;
  double highest;
};

std::vector<Range> ranges_of(const FitOptions& options) {
  std::vector<Range> ranges;
  for (const ParameterInfo& info : parameter_infos()) {
    // The paper binds one process to a core.
    if (info.value == nullptr && info.distance == Distance::kCore) continue;
    Range range{&info, info.lowest, info.highest};
    if (info.value == nullptr && options.freedom == Freedom::kPinned &&
        options.published.contains(info.distance)) {
      const double published = value_of(options.start, info);
      range.lowest = published * (1 - kPinnedSlack);
      range.highest = published * (1 + kPinnedSlack);
    }
    ranges.push_back(range);
  }
  return ranges;
}

// Positions in the ranges, each from 0 to 1.
using Point = std::vector<double>;

class Search {
 public:
  Search(PaperTrials& trials, const FitOptions& options)
      : trials_(trials), options_(options), ranges_(ranges_of(options)), random_(options.seed) {}

  Fit run(const std::function<void(std::uint32_t, double)>& progress) {
    for (std::size_t i = 0; i < kNumCandidates; ++i) {
      Point point(ranges_.size());
      for (double& position : point) position = uniform();
      errors_.push_back(error(point, std::numeric_limits<double>::infinity()));
      points_.push_back(std::move(point));
    }
    for (std::uint32_t generation = 1; generation <= options_.num_generations; ++generation) {
      for (std::size_t i = 0; i < kNumCandidates; ++i) improve(i);
      progress(generation, errors_[best()]);
    }
    return {parameters_at(points_[best()]), errors_[best()]};
  }

 private:
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  std::size_t best() const {
    return static_cast<std::size_t>(std::min_element(errors_.begin(), errors_.end()) -
                                    errors_.begin());
  }

  // Tries a mixture of this candidate, a good one and two others. Keeps the better of the two.
  void improve(std::size_t i) {
    const Point& self = points_[i];
    const Point& good = points_[one_of_the_best()];
    const Point& one = points_[random_.below(kNumCandidates)];
    const Point& other = points_[random_.below(kNumCandidates)];
    const double step = 0.4 + 0.4 * uniform();
    const std::size_t certain = random_.below(static_cast<std::uint32_t>(self.size()));
    Point tried = self;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      if (k != certain && uniform() > kCrossover) continue;
      tried[k] = reflect(self[k] + step * (good[k] - self[k]) + step * (one[k] - other[k]));
    }
    const double tried_error = error(tried, errors_[i]);
    if (tried_error > errors_[i]) return;
    errors_[i] = tried_error;
    points_[i] = std::move(tried);
  }

  std::size_t one_of_the_best() {
    std::vector<std::size_t> order(kNumCandidates);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    constexpr std::size_t kNumBest = kNumCandidates / 6;
    std::partial_sort(order.begin(), order.begin() + kNumBest, order.end(),
                      [this](std::size_t a, std::size_t b) { return errors_[a] < errors_[b]; });
    return order[random_.below(kNumBest)];
  }

  static double reflect(double position) {
    if (position < 0) position = -position;
    if (position > 1) position = 2 - position;
    return std::clamp(position, 0.0, 1.0);
  }

  Parameters parameters_at(const Point& point) const {
    Parameters parameters = options_.start;
    for (std::size_t k = 0; k < point.size(); ++k) {
      const Range& range = ranges_[k];
      value_of(parameters, *range.info) = range.lowest + point[k] * (range.highest - range.lowest);
    }
    return parameters;
  }

  // Stops as soon as the error is above `bound`.
  double error(const Point& point, double bound) {
    const Parameters parameters = parameters_at(point);
    double sum = 0;
    const auto count = static_cast<double>(trials_.size());
    for (std::size_t i = 0; i < trials_.size() && sum <= bound * count; ++i) {
      const Result<double> us = trials_.run(i, parameters, kRunSeed, kEpisodes);
      sum += us.ok() ? std::abs(*us / paper_us(trials_.cells()[i]) - 1) : 10.0;
    }
    return sum / count;
  }

  PaperTrials& trials_;
  const FitOptions& options_;
  std::vector<Range> ranges_;
  test::Random random_;
  std::vector<Point> points_;
  std::vector<double> errors_;
};

}  // namespace

Fit fit(PaperTrials& trials, const FitOptions& options,
        const std::function<void(std::uint32_t, double)>& progress) {
  return Search(trials, options).run(progress);
}

}  // namespace hierbar::bench::model
