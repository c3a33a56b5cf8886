// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar {

// The trace of Barrier::cross(): what it reports about one participant's path through one episode.
// A barrier that is not traced is instantiated with this type. Its functions are empty, so not one
// instruction is added (docs/design/reports.md#d0051). Other traces derive from it. So does what
// moves data along with an episode (collectives.hpp).
struct NoTrace {
  // Whether the trace does something in waiting(). cross() then calls it before a wait only if the
  // awaited word is not ready yet.
  static constexpr bool kUsesWaits = false;

  // Whether data move at the points below (subtree_arrived() and after). Without them, a function
  // that held a reference to the trace would cost instructions.
  static constexpr bool kMovesData = false;

  // The participant has come to the barrier.
  void arrived() const noexcept {}
  // Its whole subtree has arrived. Only parents call it, before they publish that.
  void gathered() const noexcept {}
  // It has published its arrival and has to wait. Parents do not call it.
  void waiting() const noexcept {}
  // It has seen the last thing for which it waited: a leader the exchange, all others the release.
  void released() const noexcept {}

  // Where data can move. What the participants named here wrote before they arrived, or before they
  // released the caller, is visible.
  //
  // The whole subtree of `child` has arrived. Its parent calls it, in ascending order.
  void subtree_arrived(std::uint32_t /*child*/) const noexcept {}
  // All participants have arrived, and the caller has released nobody yet. Each leader calls it;
  // with crews only the last participant to arrive.
  void all_arrived() const noexcept {}
  // The parent has released the caller, which has released nobody yet. All others call it, except
  // with crews.
  void release_came() const noexcept {}
};

}  // namespace hierbar
