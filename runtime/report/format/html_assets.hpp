// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::report {

// The files of html/, unchanged. cmake/EmbedText.cmake generates these functions.
const char* html_style();
const char* html_shared();      // what all pages have in common
const char* html_report();      // the report's pictures
const char* html_prediction();  // those of a prediction

}  // namespace hierbar::report
