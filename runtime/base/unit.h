/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_BASE_UNIT_H
#define HIERBAR_BASE_UNIT_H

/* What threads may share, smallest first. */
enum hierbar_unit {
  HIERBAR_UNIT_UNKNOWN = 0, /* a thread is not bound */
  HIERBAR_UNIT_CORE,
  HIERBAR_UNIT_L2,
  HIERBAR_UNIT_CLUSTER,
  HIERBAR_UNIT_L3,
  HIERBAR_UNIT_DIE,
  HIERBAR_UNIT_NUMA,
  HIERBAR_UNIT_PACKAGE,
  HIERBAR_UNIT_MACHINE,
  HIERBAR_NUM_UNITS
};

#endif
