// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Empty. CMake needs a source to compile headers for; hierbar_share_test_headers() says which.
