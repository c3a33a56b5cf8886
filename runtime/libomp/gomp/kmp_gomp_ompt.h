// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_OMPT_H
#define KMP_GOMP_OMPT_H

// Where a tool is told that the program has called an entry point of GCC's. libomp keeps the
// address in the thread, from OMPT_STORE_RETURN_ADDRESS in the entry point to its end, and the
// first function that tells a tool something takes it away. An entry point that calls several keeps
// it here: without that, the others would tell an address of the library's.

#include "kmp.h"

#if OMPT_SUPPORT
#include "ompt-specific.h"
#else
#define OMPT_STORE_RETURN_ADDRESS(gtid)
#endif

class kmp_gomp_caller_t {
public:
  explicit kmp_gomp_caller_t(int gtid) {
#if OMPT_SUPPORT
    thread_ = __kmp_threads[gtid];
    address_ = thread_->th.ompt_thread_info.return_address;
#endif
  }

  // Before each function that may tell something, but the first.
  void call_again() const {
#if OMPT_SUPPORT
    thread_->th.ompt_thread_info.return_address = address_;
#endif
  }

  void *address() const { return address_; }

private:
  kmp_info_t *thread_ = NULL;
  void *address_ = NULL;
};

// While it exists, the task has entered the runtime at the frame of this address: a tool that walks
// the stack finds the program's frames behind it.
class kmp_gomp_frame_t {
public:
  explicit kmp_gomp_frame_t(void *address) {
#if OMPT_SUPPORT
    if (!ompt_enabled.enabled)
      return;
    frame_ = &__ompt_get_task_info_object(0)->frame;
    frame_->enter_frame.ptr = address;
#endif
  }
  ~kmp_gomp_frame_t() {
#if OMPT_SUPPORT
    if (frame_)
      frame_->enter_frame = ompt_data_none;
#endif
  }
  kmp_gomp_frame_t(const kmp_gomp_frame_t &) = delete;
  kmp_gomp_frame_t &operator=(const kmp_gomp_frame_t &) = delete;

private:
#if OMPT_SUPPORT
  ompt_frame_t *frame_ = NULL;
#endif
};

#endif // KMP_GOMP_OMPT_H
