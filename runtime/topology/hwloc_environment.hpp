// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "base/trusted_variable.hpp"
#include "topology/masked_environment.hpp"

namespace hierbar {

// Guards calls of hwloc: it must live from the first call to the end of the topology. hwloc obeys
// its variables in every program. They name files to read and a directory of plugins to load. If
// the environment is not to be trusted, all of them are hidden, and only plugins of hwloc's own
// directory are loaded.
//
// Requires: in a program with more rights than its user there is only one at a time. Otherwise the
// one that ends first would show the variables to the other's hwloc. Plans fulfil this, because the
// machine is loaded once, under a lock.
class HwlocEnvironment {
 public:
  HwlocEnvironment() {
    if (is_environment_untrusted()) hidden_.emplace("HWLOC_");
  }

 private:
  std::optional<MaskedEnvironment> hidden_;
};

}  // namespace hierbar
