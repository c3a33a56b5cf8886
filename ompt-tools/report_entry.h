/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_OMPT_REPORT_ENTRY_H
#define HIERBAR_OMPT_REPORT_ENTRY_H

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_OMPT_LIBRARY "libhierbar_ompt.so"
#define HIERBAR_OMPT_REPORT_ENTRY "hierbar_ompt_report"

/* What libhierbar_ompt.so knows so far, for the MPI shim in the same process: a report in JSON, to be freed with free(); NULL
   when the tool is not in use or nothing can be told. Regions that are under way are not in it. With `take` the tool forgets what
   it has told, and its own report at the end has only what came later. Thread-safe. */
typedef char *(*hierbar_ompt_report_entry)(int take);

#ifdef __cplusplus
}
#endif

#endif
