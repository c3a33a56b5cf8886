// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/result.hpp"
#include "network/contention/traffic.hpp"

namespace hierbar::network {

inline constexpr std::size_t kMaxMatrixBytes = 64U << 20;

// Reads who sends how much to whom, as CSV: a line for each sender, in it the bytes to each
// receiver. Lines that begin with # are comments. A second matrix of the same size may follow the
// first, after a line "# messages": the numbers of messages. Without it each is one message.
//
// The library that HIERBAR_COUNT switches on writes such files.
//
// Errors: no square matrix; more than kMostTrafficRanks lines; something that is no number, or a
// negative one; a second matrix of another size.
Result<Traffic> parse_matrix(const std::string& text);

}  // namespace hierbar::network
