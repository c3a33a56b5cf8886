// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loop.hpp"

namespace loop_fuzzer {

// The words by which --only chooses loops.
inline std::vector<std::string_view> kinds_of(const Loop& loop, std::string_view compiler) {
  const bool splits = is_taskloop(loop.construct);
  return {kConstructNames[static_cast<int>(loop.construct)], kTypeNames[static_cast<int>(loop.type)],
          goes_up(loop.form) ? "up" : "down",
          splits ? kSplitNames[static_cast<int>(loop.split)] : kScheduleNames[static_cast<int>(loop.schedule)], compiler};
}

inline std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> kinds = {"up", "down", "by_gcc", "by_clang"};
  kinds.insert(kinds.end(), std::begin(kConstructNames), std::end(kConstructNames));
  kinds.insert(kinds.end(), std::begin(kTypeNames), std::end(kTypeNames));
  kinds.insert(kinds.end(), std::begin(kScheduleNames), std::end(kScheduleNames));
  kinds.insert(kinds.end(), std::begin(kSplitNames), std::end(kSplitNames));
  return kinds;
}

inline std::string describe(const Range& range, Type type) {
  const auto number = [type](std::uint64_t bits) {
    return type == Type::kUint32 || type == Type::kUint64 ? std::to_string(bits)
                                                          : std::to_string(static_cast<std::int64_t>(bits));
  };
  return "first " + number(range.first) + ", end " + number(range.end) + ", step " + std::to_string(range.step) + ", " +
         std::to_string(range.count) + " iterations";
}

// One line with all that is known of the loop.
inline std::string describe(const Loop& loop, std::string_view compiler) {
  std::string text;
  for (std::string_view kind : kinds_of(loop, compiler)) text += std::string(kind) + " ";
  text += "(" + std::string(kFormNames[static_cast<int>(loop.form)]) + "): " + describe(loop.outer, loop.type);
  if (loop.construct == Construct::kCollapse) text += "; inner: " + describe(loop.inner, loop.type);
  text += "; chunk " + std::to_string(loop.chunk);
  if (is_cancelled(loop.construct)) text += "; cancelled in iteration " + std::to_string(loop.cancel_at);
  return text;
}

inline std::string describe_team(const Group& group, std::string_view compiler) {
  return std::to_string(group.num_threads) + " threads in a region " + std::string(compiler) + "; runtime schedule " +
         std::to_string(static_cast<unsigned>(group.runtime_schedule)) + "," + std::to_string(group.runtime_chunk);
}

}  // namespace loop_fuzzer
