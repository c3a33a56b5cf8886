// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <string>

namespace hierbar {

// Whether Linux schedules each Unix session as a group (autogroups). A yield of the only runnable
// process of a session does not reach the processes of other sessions before the group has had its
// time. `file` is the kernel's switch; tests use another one.
bool read_has_autogroups(const std::string& file = "/proc/sys/kernel/sched_autogroup_enabled");

// Whether a process is in another session than this one, or cannot be seen from here.
bool is_in_other_session(pid_t process);

}  // namespace hierbar
