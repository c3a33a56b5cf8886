// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar {

// The trace of Barrier::cross(): what it reports about one participant's path through one episode.
// A barrier that is not traced is instantiated with this type. Its functions are empty, so not one
// instruction is added (docs/design/reports.md#d0051). Other traces derive from it.
struct NoTrace {
  // Whether the trace does something in waiting(). cross() then calls it before a wait only if the
  // awaited word is not ready yet.
  static constexpr bool kUsesWaits = false;

  // The participant has come to the barrier.
  void arrived() const noexcept {}
  // Its whole subtree has arrived. Only parents call it, before they publish that.
  void gathered() const noexcept {}
  // It has published its arrival and has to wait. Parents do not call it.
  void waiting() const noexcept {}
  // It has seen the last thing for which it waited: a leader the exchange, all others the release.
  void released() const noexcept {}
};

}  // namespace hierbar
