// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One crossing, untraced and traced. trace_cost_test.sh reads what they were compiled to.

#include "barrier/barrier.hpp"
#include "barrier/thread_host.hpp"
#include "base/arch/counter.hpp"

using Mem = hierbar::RealMem<hierbar::ThreadHost>;

namespace {
struct Stamps : hierbar::NoTrace {
  std::uint64_t* at;
  void arrived() const noexcept { at[0] = hierbar::read_counter(); }
  void gathered() const noexcept { at[1] = hierbar::read_counter(); }
  void released() const noexcept { at[2] = hierbar::read_counter(); }
};
}  // namespace

extern "C" {
[[gnu::visibility("default")]] std::uint32_t cross_untraced(const hierbar::Barrier<Mem>& barrier,
                                                            Mem& mem, std::uint32_t me) {
  return barrier.cross(mem, me, 0).bits;
}
[[gnu::visibility("default")]] std::uint32_t cross_traced(const hierbar::Barrier<Mem>& barrier,
                                                          Mem& mem, std::uint32_t me,
                                                          std::uint64_t* stamps) {
  return barrier.cross(mem, me, 0, Stamps{{}, stamps}).bits;
}
}
