// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>

#include "plan/plan.h"

namespace hierbar {

// Teams up to this size are one exchange on every machine. So their plan is made without reading
// the machine (docs/design/engine.md#d0010).
inline constexpr std::uint32_t kMaxMachineIndependent = 4;

// The plan of such a team, made without libhierbar.so. It holds its own arrays. It cannot be
// copied, because the plan points into it.
class FlatPlan {
 public:
  // Requires 1 <= num_participants <= kMaxMachineIndependent. `line_bytes` as
  // hierbar_plan.line_bytes. `crews`, if not null, tells for each participant the lowest one that
  // shares its core, for participants that outnumber their cpus.
  explicit FlatPlan(std::uint32_t num_participants, std::uint32_t line_bytes = 128,
                    const std::uint32_t* crews = nullptr) noexcept {
    for (std::uint32_t i = 0; i < num_participants; ++i) {
      nodes_[i] = hierbar_plan_node{i, 0, 0, i, 0, 0};
      leaders_[i] = i;
    }
    std::uint32_t num_crews = 0;
    for (std::uint32_t i = 0; crews != nullptr && i < num_participants; ++i) {
      if (crews[i] == i) ++num_crews;
      nodes_[i].crew = crews[i];
      for (std::uint32_t k = 0; k < num_participants; ++k)
        nodes_[i].crew_size += crews[k] == crews[i] ? 1 : 0;
    }
    plan_ = hierbar_plan{HIERBAR_PLAN_ABI_VERSION,
                         num_participants,
                         num_participants,
                         num_participants,
                         HIERBAR_RELEASE_FLAGS,
                         line_bytes,
                         num_participants > 1 ? 1U : 0U,
                         0,
                         num_crews,
                         nodes_.data(),
                         leaders_.data(),
                         leaders_.data()};
  }
  FlatPlan(const FlatPlan&) = delete;
  FlatPlan& operator=(const FlatPlan&) = delete;

  const hierbar_plan& plan() const noexcept { return plan_; }

 private:
  std::array<hierbar_plan_node, kMaxMachineIndependent> nodes_{};
  std::array<std::uint32_t, kMaxMachineIndependent> leaders_{};
  hierbar_plan plan_{};
};

}  // namespace hierbar
