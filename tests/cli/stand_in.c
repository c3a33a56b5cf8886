/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* What `hierbar run` preloads, in tests that only look at how it is set up: the loader must accept
   it, as a library and as an audit module. */
__attribute__((visibility("default"))) unsigned la_version(unsigned version);
unsigned la_version(unsigned version) { return 0 * version; /* not interested */ }
