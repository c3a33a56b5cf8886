/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Prints which of the functions that not every MPI library has this program finds, as mpi4py asks
   for them. */

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(void) {
  static const char *const kNames[] = {
      "MPI_Barrier",          "MPI_Session_init", "MPI_Session_finalize",  "MPI_Allreduce_c",
      "MPIX_Threadcomm_init", "MPI_Win_create_c", "MPI_no_function_at_all"};
  int is_initialized = 0;
  MPI_Initialized(&is_initialized); /* or the linker leaves the library out */
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i)
    printf("%s %s\n", kNames[i], dlsym(RTLD_DEFAULT, kNames[i]) != NULL ? "yes" : "no");
  return is_initialized;
}
