// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// The name of this node; "unknown" if the kernel does not say it.
std::string host_name();

}  // namespace hierbar
