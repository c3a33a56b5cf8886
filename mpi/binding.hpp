// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace hierbar::mpi {

// The cpus a rank may run on, as it stands in shared memory. num_words 0: unknown.
struct Binding {
  static constexpr std::uint32_t kMaxCpus = 1024;

  std::array<std::uint64_t, kMaxCpus / 64> bits;
  std::uint32_t num_words;
  std::uint32_t reserved;

  std::uint32_t num_cpus() const noexcept;
  // Never more than there are, whatever stands in the memory.
  std::uint32_t num_valid_words() const noexcept;
  bool is_inside(const Binding& other) const noexcept;
};

// Where the calling thread may run. Unknown on machines with more cpus than Binding holds.
Binding read_own_binding();

// True when some of the ranks must share a cpu: there is a set of cpus to which more ranks are confined than it has cpus. Looks
// at the sets that are somebody's binding; for bindings that nest or are disjoint, as launchers make them, that is exact.
bool outnumber_cpus(const std::vector<Binding>& ranks);

}  // namespace hierbar::mpi
