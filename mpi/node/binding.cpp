// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/binding.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace hierbar::mpi {

std::uint32_t Binding::num_cpus() const noexcept {
  std::uint32_t cpus = 0;
  for (const std::uint64_t word : bits)
    cpus += static_cast<std::uint32_t>(__builtin_popcountll(word));
  return cpus;
}

std::uint32_t Binding::num_valid_words() const noexcept {
  return std::min(num_words, static_cast<std::uint32_t>(bits.size()));
}

bool Binding::is_inside(const Binding& other) const noexcept {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if ((bits[i] & ~other.bits[i]) != 0) return false;
  }
  return true;
}

Binding read_own_binding() {
  Binding binding{};
  cpu_set_t cpus;
  static_assert(CPU_SETSIZE == Binding::kMaxCpus && sizeof(cpus) == sizeof(binding.bits));
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return binding;
  std::memcpy(binding.bits.data(), &cpus, sizeof(cpus));
  binding.num_words = static_cast<std::uint32_t>(binding.bits.size());
  return binding;
}

bool outnumber_cpus(const std::vector<Binding>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const Binding& set) {
    if (set.num_words == 0) return false;
    const auto confined = std::count_if(ranks.begin(), ranks.end(), [&](const Binding& rank) {
      return rank.num_words != 0 && rank.is_inside(set);
    });
    return static_cast<std::size_t>(confined) > set.num_cpus();
  });
}

}  // namespace hierbar::mpi
