// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace hierbar::mpi {

// The cpus on which a rank may run, in the form in which they stand in shared memory. If num_words
// is 0 they are unknown.
struct Binding {
  static constexpr std::uint32_t kMaxCpus = 1024;

  std::array<std::uint64_t, kMaxCpus / 64> bits;
  std::uint32_t num_words;
  std::uint32_t reserved;

  std::uint32_t num_cpus() const noexcept;
  // Never more than `bits` has, whatever value stands in the shared memory.
  std::uint32_t num_valid_words() const noexcept;
  bool is_inside(const Binding& other) const noexcept;
  bool operator==(const Binding&) const = default;
};

// The cpus on which the calling thread may run. Unknown on machines with more cpus than Binding
// holds.
Binding read_own_binding();

// True when some ranks must share a cpu: there is a set of cpus to which more ranks are confined
// than it has cpus. Only sets that are the binding of a rank are tried. This is exact if bindings
// nest or are disjoint, as launchers make them.
bool outnumber_cpus(const std::vector<Binding>& ranks);

}  // namespace hierbar::mpi
