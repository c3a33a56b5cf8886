// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/auxv.h>

#include <cstdlib>

namespace hierbar {

// Whether this process has more rights than the user who started it (AT_SECURE: setuid, setgid or
// file capabilities). That user wrote its environment, and our settings name files that the process
// reads, writes and loads.
inline bool is_environment_untrusted() noexcept { return getauxval(AT_SECURE) != 0; }

// The value of an environment variable; null when it is unset. In an untrusted environment it is
// always null, so everything has its default there. Nothing reports that, because the reader of the
// report would be the user who wrote the environment.
//
// This project calls it in place of getenv() everywhere (tests/base/getenv_test.sh checks that).
// The value is valid until somebody changes the environment.
inline const char* trusted_variable(const char* name) noexcept { return secure_getenv(name); }

}  // namespace hierbar
