// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar {

// What Barrier::cross tells about one participant's way through one episode. A barrier that is not traced is instantiated with
// this type, whose calls are nothing: it has not one instruction more than without them. Others derive from it.
struct NoTrace {
  static constexpr bool kUsesWaits = false;  // whether waiting() is to be called

  void arrived() const noexcept {}   // the participant came to the barrier
  void gathered() const noexcept {}  // all of its subtree has arrived; told by parents only, before they publish it
  void waiting() const noexcept {}   // it has published its arrival and has to wait; not told by parents
  void released() const noexcept {}  // the last that it waited for was seen: a leader's exchange, everybody else's release
};

}  // namespace hierbar
