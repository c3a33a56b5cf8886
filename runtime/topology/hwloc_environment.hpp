// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "base/trusted_variable.hpp"
#include "topology/masked_environment.hpp"

namespace hierbar {

// To live while hwloc is called, from the first call to the end of its topology. hwloc obeys its
// variables in every program: they name files to read and a directory of plugins to load. Where the
// environment is not to be trusted, all of them are hidden, and only plugins of hwloc's own
// directory are loaded.
//
// There must not be two of them at a time in a program with more rights than its user: the one that
// ends first would show the variables to the other's hwloc. Plans keep to that, since the machine
// is loaded once, under a lock.
class HwlocEnvironment {
 public:
  HwlocEnvironment() {
    if (is_environment_untrusted()) hidden_.emplace("HWLOC_");
  }

 private:
  std::optional<MaskedEnvironment> hidden_;
};

}  // namespace hierbar
