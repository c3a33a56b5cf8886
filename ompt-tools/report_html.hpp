// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "ompt-tools/report.hpp"

namespace hierbar::ompt {

// One page with everything in it: the figures as JSON, the pictures that html/*.js draws of them in a browser, and the report as
// text for browsers that run no scripts. It loads nothing.
std::string to_html(const Report& report);

}  // namespace hierbar::ompt
