// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/communicator/inside_guard.hpp"

namespace hierbar::mpi {
namespace {

thread_local bool inside = false;

}  // namespace

InsideGuard::InsideGuard() noexcept : was_inside_(inside) { inside = true; }
InsideGuard::~InsideGuard() { inside = was_inside_; }
bool InsideGuard::is_held() noexcept { return inside; }

}  // namespace hierbar::mpi
