// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "report/report.hpp"

namespace hierbar::report {

// Writes the machine for `lstopo --input FILE`, coloured by the time that barriers took in each
// part of it. On failure, writes a line to the standard error and returns false. libhierbar.so does
// the work. It is beside this library, and is loaded only by this function.
bool write_lstopo(const std::string& name, const Report& report);

}  // namespace hierbar::report
