// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/groups.hpp"

// Targets, judged by one run.
namespace hierbar::bench {

enum class Outcome : std::uint8_t { kPass, kFail, kNotMeasured };

struct Verdict {
  std::string what;  // "barrier, 2 threads: hier / best stock libomp (linear)"
  Outcome outcome = Outcome::kNotMeasured;
  std::optional<double> value;  // a ratio, unless `what` says otherwise
  double limit = 0;             // value must not be above it
  std::string note;             // the spread, or why nothing was measured
};

// Also that there are any.
[[nodiscard]] bool all_pass(const std::vector<Verdict>& verdicts);

inline constexpr double kNoSlower = 1.05;           // what repeated runs of one library differ by
inline constexpr double kOverExchangeFloor = 1.2;   // of a barrier, over the exchange of the same run ...
inline constexpr double kOverExchangeFloorNs = 15;  // ... or this much above it, if that is more

// Appends a verdict per question. Not measured is whatever has no figures, or none from a settled regime.
class Judge {
 public:
  explicit Judge(std::vector<Verdict>& verdicts) : verdicts_(verdicts) {}

  // hier over `other`, which is nullptr when nothing of that kind was measured.
  void ratio(const Group& group, const std::string& against, const Series* other, double limit);

  // A factor or a distance above the floor, whichever allows more.
  void exchange_floor(const Group& group);

  // How many ns `name` takes above `baseline`: no more than limit_ns, or this share of the baseline's time if that is more.
  void overhead(const Group& group, std::string_view name, std::string_view baseline, double limit_ns, double limit_share);

  // How far hier's median is above that of `other`, in ns.
  void distance(const Group& group, const std::string& above, const Series* other, double limit_ns);

  // hier's slowest batch, in ns.
  void no_stall(const Group& group, double limit_ns);

 private:
  static const Series* hier(const Group& group);
  static std::optional<double> median_of(const Group& group, const Series* series);
  static Verdict begin(const Group& group, const std::string& what, double limit);
  void finish(const Group& group, Verdict verdict, const std::string& missing);

  std::vector<Verdict>& verdicts_;
};

}  // namespace hierbar::bench
