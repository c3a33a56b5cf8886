// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::ompt {

// The files in html/, as they are; cmake/EmbedText.cmake makes the functions of them.
const char* html_style();
const char* html_script();

}  // namespace hierbar::ompt
