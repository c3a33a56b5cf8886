/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* What parts.c does, by functions that dlsym() finds in an MPI library that the program opens, as
   Julia, Numba and Python's ctypes do. Arguments: the library, or one that needs it, and "global",
   "deep" or "namespace" for how it is opened. No MPI compiler builds this, since it would link the
   library. */

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI_HANDLES
typedef void *Comm;
static Comm world_of(void *library) { return dlsym(library, "ompi_mpi_comm_world"); }
#else
typedef int Comm;
static Comm world_of(void *library) { return library != NULL ? 0x44000000 : 0; }
#endif

static void *library;

/* As dlsym()'s manual has it: an answer may be NULL, so dlerror() says whether there is an error.
 */
static void *find(const char *symbol) {
  dlerror();
  void *const found = dlsym(library, symbol);
  const char *const error = dlerror();
  if (found == NULL || error != NULL) {
    fprintf(stderr, "opened: %s\n", error != NULL ? error : symbol);
    exit(1);
  }
  return found;
}

/* What dlsym() says must be what it says without the shim, where it is not asked for a function of
   MPI. The first of these answers depends on who asks: dlsym() is the next one's for the shim. */
static int is_as_without_shim(void) {
  if (dlsym(RTLD_NEXT, "dlsym") != (void *)&dlsym || dlsym(RTLD_DEFAULT, "MPI_no_function") != NULL)
    return 0;
  dlerror();
  return dlsym(library, "MPI_no_function") == NULL &&
         strstr(dlerror(), "MPI_no_function") != NULL && dlerror() == NULL;
}

int main(int argc, char **argv) {
  int mode = RTLD_NOW;
  if (argc > 2 && strcmp(argv[2], "global") == 0) mode |= RTLD_GLOBAL;
  if (argc > 2 && strcmp(argv[2], "deep") == 0) mode |= RTLD_DEEPBIND;
  const int is_apart = argc > 2 && strcmp(argv[2], "namespace") == 0;
  if (argc > 1) library = is_apart ? dlmopen(LM_ID_NEWLM, argv[1], mode) : dlopen(argv[1], mode);
  if (library == NULL) {
    fprintf(stderr, "opened: %s\n", argc > 1 ? dlerror() : "no library is named");
    return 1;
  }
  if (!is_as_without_shim()) {
    fprintf(stderr, "opened: dlsym() has other answers than without the shim\n");
    return 1;
  }
  int (*const init)(int *, char ***) = (int (*)(int *, char ***))find("MPI_Init");
  int (*const dup)(Comm, Comm *) = (int (*)(Comm, Comm *))find("MPI_Comm_dup");
  int (*const barrier)(Comm) = (int (*)(Comm))find("MPI_Barrier");
  int (*const free_comm)(Comm *) = (int (*)(Comm *))find("MPI_Comm_free");
  int (*const finalize)(void) = (int (*)(void))find("MPI_Finalize");
  const Comm world = world_of(library);

  init(NULL, NULL);
  for (int round = 0; round < 10; ++round) {
    Comm comm;
    dup(world, &comm);
    barrier(comm);
    free_comm(&comm);
  }
  for (int round = 0; round < 90; ++round) barrier(world);
  return finalize();
}
