// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/groups.hpp"

// Decides by one run whether targets are met.
namespace hierbar::bench {

enum class Outcome : std::uint8_t { kPass, kFail, kNotMeasured };

struct Verdict {
  std::string what;  // "barrier, 2 threads: hier / best stock libomp (linear)"
  Outcome outcome = Outcome::kNotMeasured;
  std::optional<double> value;  // a ratio, unless `what` says otherwise
  double limit = 0;             // the largest value that passes
  std::string note;             // the spread, or why nothing was measured
};

// Whether there are verdicts and all of them pass.
[[nodiscard]] bool all_pass(const std::vector<Verdict>& verdicts);

// By so much do repeated runs of one library differ.
inline constexpr double kNoSlower = 1.05;
// Of a barrier over the exchange of the same run: this factor, or this distance if that is more.
inline constexpr double kOverExchangeFloor = 1.2;
inline constexpr double kOverExchangeFloorNs = 15;

// Appends a verdict for each question. It is kNotMeasured if there are no figures, or none from a
// settled regime and an undisturbed machine, or if the repetitions' ratios are too far apart.
class Judge {
 public:
  explicit Judge(std::vector<Verdict>& verdicts) : verdicts_(verdicts) {}

  // hier over `other`. `other` is nullptr if it was not measured.
  void ratio(const Group& group, const std::string& against, const Series* other, double limit);

  // hier over the exchange floor: a factor or a distance, whichever allows more.
  void exchange_floor(const Group& group);

  // How many ns `name` takes above `baseline`. The limit is limit_ns, or this share of the
  // baseline's time if that is more.
  void overhead(const Group& group, std::string_view name, std::string_view baseline,
                double limit_ns, double limit_share);

  // How many ns the median of hier is above that of `other`.
  void distance(const Group& group, const std::string& above, const Series* other, double limit_ns);

  // The slowest batch of hier, in ns.
  void no_stall(const Group& group, double limit_ns);

 private:
  static const Series* hier(const Group& group);
  static std::optional<double> median_of(const Group& group, const Series* series);
  static Verdict begin(const Group& group, const std::string& what, double limit);
  void finish(const Group& group, Verdict verdict, const std::string& missing,
              bool is_clear = true);

  std::vector<Verdict>& verdicts_;
};

}  // namespace hierbar::bench
