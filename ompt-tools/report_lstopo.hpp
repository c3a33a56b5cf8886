// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "ompt-tools/report.hpp"

namespace hierbar::ompt {

// Writes the machine, coloured by what barriers took in each part of it, for `lstopo --input FILE`; or says in one line on the
// standard error why it could not. libhierbar.so does it, which lies beside this library: it is loaded only now.
bool write_lstopo(const std::string& name, const Report& report);

}  // namespace hierbar::ompt
