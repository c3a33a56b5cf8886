// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/auxv.h>

#include <cstdlib>

namespace hierbar {

// Whether this process has more rights than the user who started it (setuid, setgid, file
// capabilities: AT_SECURE). Its environment was written by that user, and our settings name files
// to be read, written and loaded.
inline bool is_environment_untrusted() noexcept { return getauxval(AT_SECURE) != 0; }

// The value of an environment variable; null when it is unset, and always null in an untrusted
// environment: everything has its default there. Nothing reports that, because whoever would read
// it wrote the environment.
//
// This project calls it wherever it would call getenv() (tests/base/getenv_test.sh). Valid until
// somebody changes the environment.
inline const char* trusted_variable(const char* name) noexcept { return secure_getenv(name); }

}  // namespace hierbar
