// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar {

// Replaces runtime/barrier/contention.hpp, which measures time: nobody else wants the cpus.
class Contention {
 public:
  bool is_remembered() const noexcept { return false; }
};

}  // namespace hierbar
