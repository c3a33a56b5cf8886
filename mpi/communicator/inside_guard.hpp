// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// While it exists, the calling thread is in work of the shim's own inside the MPI library: a set-up, or
// the meeting of leaders. The library may call MPI_Barrier there, and serves that itself. Nothing of
// the program's may be called meanwhile: an error handler, say, may never come back, and its barriers
// are ordinary ones.
class InsideGuard {
 public:
  InsideGuard() noexcept;
  ~InsideGuard();
  // Whether the calling thread is.
  static bool is_held() noexcept;
  InsideGuard(const InsideGuard&) = delete;
  InsideGuard& operator=(const InsideGuard&) = delete;

 private:
  const bool was_inside_;
};

}  // namespace hierbar::mpi
