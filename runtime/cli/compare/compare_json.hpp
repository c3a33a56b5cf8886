// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/compare/compare_words.hpp"
#include "cli/compare/compared_runs.hpp"

namespace hierbar {

// All that was measured and found. docs/guide/compare.md lists the members.
nlohmann::ordered_json comparison_as_json(const CompareRequest& request,
                                          const Comparison& comparison, const FigureKind& kind);

}  // namespace hierbar
