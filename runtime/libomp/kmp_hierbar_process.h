// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PROCESS_H
#define KMP_HIERBAR_PROCESS_H

// What the patch calls for the process around the teams: it is forked, threads that begin regions
// come and go, and it ends.
//
//   z_Linux_util.cpp
//     __kmp_hierbar_forget_parent       first of all in a forked child
//     __kmp_hierbar_worker_ended        the last thing that a worker does
//     __kmp_hierbar_await_end           before a worker is joined
//     kmp_hierbar_uncancelled_t         a thread sleeps
//   kmp_runtime.cpp
//     kmp_hierbar_opening_t             the library starts; kmp_hierbar_plan.cpp makes a plan
//     kmp_hierbar_uncancelled_t         it goes on with that
//     __kmp_hierbar_forget_number       it has been paused
//     __kmp_hierbar_exit                the library's destructor, at the end of the process
//     __kmp_hierbar_is_exiting          when a thread of the program ends
//   kmp.h
//     __kmp_hierbar_has_restarted       a thread's number is out of range
//   ompt-general.cpp
//     __kmp_hierbar_silence_tool        after the tool has ended, at the end of the process

#include "kmp.h"

// In a forked child, which has one thread and a copy of all that the parent knew. libomp forgets
// the teams itself; this forgets what libomp leaves.
void __kmp_hierbar_forget_parent();

// While it lives, pthread_cancel() does not end the thread, which would take locks and its team's
// join with it. As with GCC's library, it ends at the next such point of the program's own.
class kmp_hierbar_uncancelled_t {
  int state;

public:
  kmp_hierbar_uncancelled_t() { __kmp_disable(&state); }
  ~kmp_hierbar_uncancelled_t() { __kmp_enable(state); }
};

// While it lives, the thread opens libraries, and the end of the process waits for it. glibc's
// dlopen() must not run beside the end of a process that has an audit module, as under `hierbar
// run`: it then clears the thread-local variables of libraries that are in use, in all threads. So
// a thread that comes when the end has begun lets that go on first.
class kmp_hierbar_opening_t {
  kmp_hierbar_uncancelled_t uncancelled;

public:
  kmp_hierbar_opening_t();
  ~kmp_hierbar_opening_t();
};

// The calling thread has paused the library, and is none of its threads any more.
void __kmp_hierbar_forget_number();

// True if the library was down, and has been started for the calling thread, whose number is
// `gtid` now. (Declared in kmp.h.)
bool __kmp_hierbar_has_restarted(kmp_int32 gtid);

// The end of the process. Returns false where LLVM's library is to take
// itself apart.
bool __kmp_hierbar_exit();
// Whether that has begun.
bool __kmp_hierbar_is_exiting();
#if OMPT_SUPPORT
// In place of unloading the tool, which other threads may be inside of.
void __kmp_hierbar_silence_tool();
#endif
// A worker that is to end. Does not return at the end of the process.
void __kmp_hierbar_worker_ended(kmp_info_t *thread);
// Waits for that. False: not at the end of the process, so the worker is to be joined.
bool __kmp_hierbar_await_end(kmp_info_t *thread);

#endif // KMP_HIERBAR_PROCESS_H
