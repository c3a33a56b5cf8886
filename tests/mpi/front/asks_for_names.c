/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Prints which of the functions that not every MPI library has this program finds, as mpi4py asks
   for them, and as Python's ctypes does. */

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* One of those names is a function of the program's own. */
int own_function(void) __asm__("MPIX_Threadcomm_free");
int own_function(void) { return 0; }

static void ask(const char *how, void *handle, const char *name) {
  dlerror();
  const void *const found = dlsym(handle, name);
  const char *const error = dlerror();
  printf("%s %s: %s, %s\n", name, how, found != NULL ? "yes" : "no",
         error != NULL ? "an error" : "no error");
}

int main(void) {
  static const char *const kNames[] = {
      "MPI_Barrier",          "MPI_Session_init", "MPI_Session_finalize", "MPI_Allreduce_c",
      "MPIX_Threadcomm_init", "MPI_Win_create_c", "MPIX_Threadcomm_free", "MPI_no_function_at_all"};
  int is_initialized = 0;
  MPI_Initialized(&is_initialized); /* or the linker leaves the library out */
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    ask("of all files", RTLD_DEFAULT, kNames[i]);
    ask("of the program", dlopen(NULL, RTLD_LAZY), kNames[i]);
  }
  return is_initialized;
}
