// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

enum class Detail : std::uint8_t {
  // Neighbours of the same shape share a line. Cores of one cpu each are left out where the line
  // above names all of them. So large and uneven machines fit on a screen.
  kCollapsed,
  kEveryUnit,
};

// The machine for people, as lines: what it is, its active levels, its tree. Without its warnings.
//
//   2 x Kunpeng 920
//   128 cores, 128 cpus (0-127), all allowed
//   coherence lines of 128 bytes, L3 of 32 MiB; loaded in 3.9 ms
//   active levels (*): numa (4 of 32 cores), package (2 of 64 cores)
//
//   unit                   holds      cpus
//   machine                128 cores  0-127
//     2 x package*         64 cores   0-63 | 64-127
//       2 x numa* + l3     32 cores   0-31 | 32-63
//         8 x cluster      4 cores    0-3 | 4-7 | ... | 28-31
//           4 x l2 + core  1 cpu      0 | 1 | 2 | 3
std::vector<std::string> describe(const Machine& machine, Detail detail);

}  // namespace hierbar
