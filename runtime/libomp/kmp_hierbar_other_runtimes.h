// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_OTHER_RUNTIMES_H
#define KMP_HIERBAR_OTHER_RUNTIMES_H

// Other OpenMP runtimes in the same process. Called by kmp_runtime.cpp, when the library starts, is
// first used in a forked child, and ends, and by ompt-general.cpp, when somebody asks for a tool.

// Ends the process if another OpenMP runtime has been started in it, as libomp does. True: nothing
// else is to be done. Under __kmp_initz_lock.
bool __kmp_hierbar_register_library();
bool __kmp_hierbar_unregister_library();

// The same, if `caller` is in another runtime, which starts while this one is at work.
void __kmp_hierbar_meet_runtime(void *caller);

#endif // KMP_HIERBAR_OTHER_RUNTIMES_H
