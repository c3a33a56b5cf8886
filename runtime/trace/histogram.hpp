// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace hierbar {

// A histogram of durations, in memory of a fixed size. Buckets are 1 ns wide up to 16 ns. Above,
// each power of two has 8 buckets, so a percentile is right to 6 %. Count, sum and maximum are
// exact. Histograms of any threads, processes and nodes can be merged by addition.
class Histogram {
 public:
  static constexpr int kStepBits = 3;  // 8 buckets for each power of two
  static constexpr int kMaxBits = 40;  // longer than 18 minutes counts as 18 minutes
  static constexpr std::size_t kNumBuckets = std::size_t{(kMaxBits - kStepBits) + 1} << kStepBits;

  void add(std::uint64_t ns) noexcept {
    ++buckets_[bucket_of(ns)];
    sum_ns_ += ns;
    if (ns > max_ns_) max_ns_ = ns;
  }
  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < kNumBuckets; ++i) buckets_[i] += other.buckets_[i];
    sum_ns_ += other.sum_ns_;
    if (other.max_ns_ > max_ns_) max_ns_ = other.max_ns_;
  }

  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t in_bucket : buckets_) sum += in_bucket;
    return sum;
  }
  std::uint64_t sum_ns() const noexcept { return sum_ns_; }
  std::uint64_t max_ns() const noexcept { return max_ns_; }
  std::uint64_t in_bucket(std::size_t bucket) const noexcept { return buckets_[bucket]; }
  double mean_ns() const noexcept {
    const std::uint64_t all = count();
    return all == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(all);
  }

  // The duration that `share` (0 to 1) of all durations do not exceed. It is the middle of its
  // bucket, at most the maximum. 0 if the histogram is empty.
  double percentile_ns(double share) const noexcept {
    const double wanted = share * static_cast<double>(count());
    double seen = 0;
    for (std::size_t i = 0; i < kNumBuckets; ++i) {
      seen += static_cast<double>(buckets_[i]);
      if (buckets_[i] == 0 || seen < wanted) continue;
      const double middle = static_cast<double>(first_ns(i) + first_ns(i + 1) - 1) / 2;
      return middle < static_cast<double>(max_ns_) ? middle : static_cast<double>(max_ns_);
    }
    return 0;
  }

  static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    constexpr std::uint64_t kSteps = std::uint64_t{1} << kStepBits;
    if (ns >> kMaxBits != 0) return kNumBuckets - 1;
    // Short durations take the same path: a branch would be mispredicted, since nobody can predict
    // who waits in a barrier and who comes last.
    const int shift = static_cast<int>(std::bit_width(ns | kSteps)) - 1 - kStepBits;
    return (static_cast<std::size_t>(shift) << kStepBits) + static_cast<std::size_t>(ns >> shift);
  }
  // The shortest duration of a bucket.
  static constexpr std::uint64_t first_ns(std::size_t bucket) noexcept {
    constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
    if (bucket < 2 * kSteps) return bucket;
    const std::size_t shift = (bucket >> kStepBits) - 1;
    return static_cast<std::uint64_t>((bucket & (kSteps - 1)) + kSteps) << shift;
  }

  // For readers of a file: these add `count` durations of one bucket, and the exact sum and maximum
  // of all durations.
  void add_bucket(std::size_t bucket, std::uint64_t count) noexcept { buckets_[bucket] += count; }
  void add_totals(std::uint64_t sum_ns, std::uint64_t max_ns) noexcept {
    sum_ns_ += sum_ns;
    if (max_ns > max_ns_) max_ns_ = max_ns;
  }

 private:
  std::array<std::uint64_t, kNumBuckets> buckets_{};
  std::uint64_t sum_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace hierbar
