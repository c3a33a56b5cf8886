/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_BASE_LEVELS_H
#define HIERBAR_BASE_LEVELS_H

/* The levels of a machine that have names, smallest first. Everything that knows levels follows
   from this list: the enumerations below and in topology/machine.hpp, the names that settings and
   reports use, and the levels that a user may choose, which are all between the core and the
   machine. Which of hwloc's objects a level is, topology/load.cpp says.

     X(UNIT, Level, name, other name, name in reports, preference)

   name         in settings, JSON and messages
   other name   which settings accept as well; "" if there is none
   preference   A barrier may gather on the units of this level. Of levels that divide the cores
                alike it takes the one with the smallest number. 0: no barrier gathers on this level
                by itself. Clusters are not worth a level on any machine that is known. */
#define HIERBAR_LEVELS(X)                                 \
  X(CORE, kCore, "core", "", "core", 0)                   \
  X(L2, kL2, "l2", "", "L2", 5)                           \
  X(CLUSTER, kCluster, "cluster", "", "cluster", 0)       \
  X(L3, kL3, "l3", "", "L3", 3)                           \
  X(DIE, kDie, "die", "", "die", 4)                       \
  X(NUMA, kNuma, "numa", "", "NUMA", 1)                   \
  X(PACKAGE, kPackage, "package", "socket", "package", 2) \
  X(MACHINE, kMachine, "machine", "", "machine", 0)

/* What threads may share: a level, or nothing that is known. libomp and the tool exchange it. */
#define HIERBAR_UNIT_OF_LEVEL(unit, level, name, other_name, name_in_reports, preference) \
  HIERBAR_UNIT_##unit,
enum hierbar_unit {
  HIERBAR_UNIT_UNKNOWN = 0, /* a thread is not bound */
  HIERBAR_LEVELS(HIERBAR_UNIT_OF_LEVEL) HIERBAR_NUM_UNITS
};
#undef HIERBAR_UNIT_OF_LEVEL

#endif
