// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include "network/evaluate.hpp"

namespace hierbar::network::test {

struct NamedNetwork {
  const char* name;
  Parameters parameters;
};

// Paper P2's, section VI.
inline constexpr Parameters kPaper{125.6, 0.43, 123.8, 0.22, 0};

inline constexpr std::array<NamedNetwork, 4> kNetworks{{{"InfiniBand", {1.2, 0.3, 0.5, 0.2, 0}},
                                                        {"TCP", {18, 3, 4, 1, 0}},
                                                        {"WAN", {1000, 5, 8, 2, 0}},
                                                        {"high receive overhead", {1.37, 0.43, 123.8, 0.22, 0}}}};

inline Network uniform(const Parameters& parameters) { return {parameters, {}}; }

}  // namespace hierbar::network::test
