/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* What a test program tells about itself. It comes first, for _GNU_SOURCE. */
#ifndef HIERBAR_TESTS_CLI_OWN_PROCESS_H
#define HIERBAR_TESTS_CLI_OWN_PROCESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* How many cpus the calling thread may use. */
static int num_cpus(void) {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

/* A line "runtime <path>" for each file of an OpenMP runtime that is loaded. */
static void print_runtimes(void) {
  char line[4096], last[4096] = "";
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    const char *path = strchr(line, '/');
    if (!path || !strcmp(path, last)) continue;
    strcpy(last, path);
    const char *file = strrchr(path, '/') + 1;
    if (!strncmp(file, "libgomp", 7) || !strncmp(file, "libomp", 6) || !strncmp(file, "libiomp", 7))
      printf("runtime %s", path);
  }
  if (maps) fclose(maps);
}

#endif
