// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::bench {

// `git describe` of the tree that was built; "unknown" outside a repository. It is defined in a
// file of its own, which every build writes, so that a commit recompiles nothing else.
extern const char* const kRevision;

}  // namespace hierbar::bench
