// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "base/trusted_variable.hpp"

namespace hierbar::mpi {

inline constexpr const char* kSessionsVariable = "HIERBAR_SESSIONS";
inline constexpr const char* kSharedSession = "shared";

// Whether ranks are to share a session. Allocates nothing: it is asked in MPICH's launcher, between
// fork() and exec().
inline bool shares_session() noexcept {
  const char* setting = trusted_variable(kSessionsVariable);
  return setting != nullptr && std::string_view(setting) == kSharedSession;
}

}  // namespace hierbar::mpi
