/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_OMPT_REPORT_ENTRY_H
#define HIERBAR_OMPT_REPORT_ENTRY_H

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_OMPT_LIBRARY "libhierbar_ompt.so"
#define HIERBAR_OMPT_REPORT_ENTRY "hierbar_ompt_report"

/* A function of libhierbar_ompt.so for the MPI shim in the same process. Returns what the tool
   knows so far: a report in JSON, which the caller must free(). Returns NULL if the tool is not in
   use, has ended, or fails. Regions that are running are not in the report. If `take` is not 0, the
   tool forgets what it has reported, and its own report at the end has only what came later.
   Thread-safe. */
typedef char *(*hierbar_ompt_report_entry)(int take);

#ifdef __cplusplus
}
#endif

#endif
