// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

namespace hierbar::test {

// The last thing that a rank does which is no MPI program. Where all ranks of a launch end at once,
// MPICH's launcher now and then writes to a proxy that has ended, and dies of it: 5 of 720 launches
// on a busy machine, with no line of the ranks behind it.
inline void outlive_the_launch() { usleep(200'000); }

}  // namespace hierbar::test
