// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "api/waiting.hpp"

namespace hierbar {
namespace {

constexpr long kSleepLimit_ns = 50'000'000;
constexpr long kSleepLimitWithProgress_ns = 1'000'000;

bool in_range(std::int64_t value, std::int64_t max) { return value == HIERBAR_AUTO || (value >= 0 && value <= max); }

std::string out_of_range(const char* name, std::int64_t value, std::int64_t max) {
  return std::string(name) + ": '" + std::to_string(value) + "': out of range; allowed: 0 to " + std::to_string(max) +
         ", or HIERBAR_AUTO (" + std::to_string(HIERBAR_AUTO) + ")";
}

}  // namespace

WaitLimits limits_of(const hierbar_waiting& waiting) { return {waiting.spin_looks, waiting.yields, waiting.sleep_limit_ns}; }

std::string limits_problem(const WaitLimits& limits) {
  if (!in_range(limits.spin_looks, HIERBAR_MAX_LOOKS)) {
    return out_of_range("waiting.spin_looks", limits.spin_looks, HIERBAR_MAX_LOOKS);
  }
  if (!in_range(limits.yields, HIERBAR_MAX_LOOKS)) return out_of_range("waiting.yields", limits.yields, HIERBAR_MAX_LOOKS);
  if (!in_range(limits.sleep_limit_ns, HIERBAR_MAX_SLEEP_NS)) {
    return out_of_range("waiting.sleep_limit_ns", limits.sleep_limit_ns, HIERBAR_MAX_SLEEP_NS);
  }
  return {};
}

WaitPolicy wait_policy(const WaitLimits& of_barrier, const hierbar_waiting* own, bool oversubscribed) {
  WaitLimits limits = of_barrier;
  WaitPolicy policy = oversubscribed ? WaitPolicy::outnumbered() : WaitPolicy{};
  if (own != nullptr) {
    if (own->spin_looks != HIERBAR_AUTO) limits.spin_looks = own->spin_looks;
    if (own->yields != HIERBAR_AUTO) limits.yields = own->yields;
    if (own->sleep_limit_ns != HIERBAR_AUTO) limits.sleep_limit_ns = own->sleep_limit_ns;
    policy.progress = own->progress;
    policy.progress_context = own->progress_context;
  }
  if (limits.spin_looks != HIERBAR_AUTO && !oversubscribed) policy.spin_looks = static_cast<int>(limits.spin_looks);
  if (limits.yields != HIERBAR_AUTO) policy.yields = static_cast<int>(limits.yields);
  // All must agree on whether anybody sleeps: a writer that believes that nobody sleeps wakes
  // nobody (docs/design/waiting.md#d0008).
  policy.sleeps = of_barrier.sleep_limit_ns != 0;
  policy.sleep_limit_ns = policy.progress != nullptr ? kSleepLimitWithProgress_ns : kSleepLimit_ns;
  if (limits.sleep_limit_ns != HIERBAR_AUTO) policy.sleep_limit_ns = limits.sleep_limit_ns;
  return policy;
}

}  // namespace hierbar
