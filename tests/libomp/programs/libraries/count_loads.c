/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* To be preloaded: adds a line to the file COUNT_LOADS each time that hwloc loads a topology. */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int hwloc_topology_load(void *topology);

int hwloc_topology_load(void *topology) {
  const char *path = getenv("COUNT_LOADS");
  const int file = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, "load\n", 5) != 5) abort();
  close(file);
  /* hwloc came with a library that was opened for itself, so RTLD_NEXT does not see it. */
  void *hwloc = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_NOLOAD);
  int (*load)(void *) = hwloc == NULL ? NULL : (int (*)(void *))dlsym(hwloc, "hwloc_topology_load");
  if (load == NULL) abort();
  return load(topology);
}
